import Foundation
import Testing

/// Histories of requests under one key, with faults; `TRANSFA_TEST_LONG=1` takes 100,000.
@Suite("histories of equal requests")
struct IdempotencyHistoryTests {
    private static let isLong = ProcessInfo.processInfo.environment["TRANSFA_TEST_LONG"] == "1"
    private static let histories: UInt64 = isLong ? 100_000 : 10_000

    @Test("whatever fails, there is one effect, every answer is its row's, and everybody is answered")
    func histories() async {
        var problems: [String] = []
        for seed in 0..<Self.histories {
            if let problem = Self.history(seed, flaw: nil) { problems.append("seed \(seed): \(problem)") }
            // A thread that others need, too.
            if seed.isMultiple(of: 50) { await Task.yield() }
        }
        #expect(problems.isEmpty, "\(problems.prefix(5))")
    }

    @Test("what is broken on purpose is found", arguments: [KeyedWorld.Flaw.copiesOfAnyHistory, .leaseDecides])
    func broken(flaw: KeyedWorld.Flaw) async {
        var found = 0
        for seed in 0..<2000 where Self.history(UInt64(seed), flaw: flaw) != nil { found += 1 }
        #expect(found > 0)
    }

    /// What went wrong in one history.
    private static func history(_ seed: UInt64, flaw: KeyedWorld.Flaw?) -> String? {
        var chance = Chance(seed: seed)
        let count = Int.random(in: 2...6, using: &chance)
        var world = KeyedWorld(requests: count, processes: 2, flaw: flaw)
        var ticks = 0
        while !world.isOver {
            ticks += 1
            guard ticks < 10_000 else { return "somebody is never answered" }
            let index = Int.random(in: 0..<count, using: &chance)
            // Faults end, so that what waits for them can.
            if ticks < 60, Int.random(in: 0..<8, using: &chance) == 0 {
                world.suffer(KeyedWorld.Fault.allCases.randomElement(using: &chance) ?? .flushed, index)
            }
            world.now += Int.random(in: 0..<20, using: &chance) == 0 ? 16_000 : Int.random(in: 0...300, using: &chance)
            world.step(index)
            if let problem = world.problem { return problem }
        }
        return nil
    }
}

/// SplitMix64: the same numbers for the same seed.
private struct Chance: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { self.state = seed }

    mutating func next() -> UInt64 {
        self.state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = self.state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
