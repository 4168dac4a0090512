import Foundation
import Testing

@testable import TransactionService

/// Random acts beside a rude provider; `TRANSFA_TEST_LONG=1` plays 100,000 of them, in worlds of 2000 with a seed each;
/// `TRANSFA_TEST_SEED` plays one again.
@Suite("Money by chance")
struct RandomMoneyTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let isLong = Self.environment["TRANSFA_TEST_LONG"] == "1"
    private static let seed = Self.environment["TRANSFA_TEST_SEED"].flatMap { UInt64($0) } ?? 41
    private static let acts = 2000

    @Test("ledger, provider and people agree to the kobo after every hundred acts")
    func agree() async throws {
        var done: [String: Int] = [:]
        for seed in Self.seed..<Self.seed + (Self.isLong ? 50 : 1) {
            for name in try await Self.plays(seed, acts: Self.acts) { done[name, default: 0] += 1 }
            print("seed \(seed): \(Self.acts) acts")
        }
        for (name, count) in done.sorted(by: { $0.key < $1.key }) { print("  \(count) \(name)") }
        for name in [
            "accepted p2p", "accepted self_transfer", "accepted money_drop", "claimed", "provider took back", "closed",
            "credit approved", "return approved", "charge paid", "received under a reference of ours",
        ] {
            #expect(done[name, default: 0] > 0, "nothing was \(name)")
        }
    }

    @Test("the same seed gives the same acts")
    func again() async throws {
        let first = try await Self.plays(7, acts: 700)
        let second = try await Self.plays(7, acts: 700)
        let apart = zip(first, second).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(first == second, "apart from act \(apart?.offset ?? min(first.count, second.count))")
    }

    /// Every act and its outcome, in order.
    private static func plays(_ seed: UInt64, acts: Int) async throws -> [String] {
        var history: [String] = []
        try await withTransaction { world in
            let money = RandomMoney(world: world, seed: seed)
            try await money.begins()
            var backup = try await money.isBackedUp()
            for number in 1...acts {
                // Who joins or leaves after a backup is told anew by others, which is not played here.
                money.isSettled = !(350...550).contains(number % 1000)
                try await money.acts()
                // A crash in the middle of a thousand acts, with a backup that is some hundred acts old.
                if number % 1000 == 350 { backup = try await money.isBackedUp() }
                if number % 1000 == 550 { try await money.isRestored(to: backup) }
                guard number.isMultiple(of: 100) else { continue }
                try await money.comesToRest()
                let contradictions = try await money.contradictions()
                try #require(contradictions == [], "seed \(seed), after \(number) acts")
            }
            history = money.history
        }
        return history
    }
}
