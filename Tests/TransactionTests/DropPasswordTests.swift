import Foundation
import Messaging
import Primitives
import Sealing
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Passwords of drops")
struct DropPasswordTests {
    /// Why a password did not open a drop; nil when it did.
    private static func problem(
        of password: String,
        for drop: UUID,
        by user: UserID,
        with claim: ClaimMoneyDrop
    ) async -> DropPasswordProblem? {
        do {
            _ = try await claim.checkedHash(drop, by: user, password: password)
            return nil
        } catch {
            return error as? DropPasswordProblem
        }
    }

    @Test("of 25 wrong passwords at once five are looked at, and right ones before them count for nothing")
    func atOnce() async throws {
        try await withTransaction { world in
            let hasher = PINHasher()
            let hash = try await hasher.hash("sesame")
            let drop = world.ids.next()
            try await world.database.psql(
                """
                INSERT INTO money_drops (id, creator_id, pool_id, pool_account, funding_id, amount_per_claim, slots,
                    password_hash, link, state, expires_at, created_at)
                VALUES ('\(drop.lowercased)', '\(world.ada.uuid.lowercased)', 4711, 'pool',
                    '\(world.ids.next().lowercased)', 10, 1, '\(hash)', 'https://x.example/d/1', 'open',
                    transfa_now() + interval '1 day', transfa_now())
                """
            )
            let store = MoneyDropStore(client: world.requests.client, workers: world.work.client)
            let claim = ClaimMoneyDrop(store: store, hasher: hasher)
            let user = world.bayo
            for _ in 0..<6 {
                let opened = try await claim.checkedHash(drop, by: user, password: "sesame")
                #expect(opened == hash)
            }
            let problems = await withTaskGroup(of: DropPasswordProblem?.self) { group in
                for number in 0..<25 {
                    group.addTask { await Self.problem(of: "guess \(number)", for: drop, by: user, with: claim) }
                }
                var all: [DropPasswordProblem?] = []
                for await problem in group { all.append(problem) }
                return all
            }
            #expect(problems.count { $0 == .wrong } == 5)
            #expect(problems.count { $0 != nil && $0 != .wrong } == 20)
            // Who is told to wait learns nothing, also with the right one.
            let right = await Self.problem(of: "sesame", for: drop, by: user, with: claim)
            #expect(right != nil && right != .wrong)
        }
    }
}
