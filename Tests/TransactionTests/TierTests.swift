import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Limits by tier", .serialized)
struct TierTests {
    private func change(_ user: UserID, to tier: Int, sequence: Int64, in world: TransactionWorld) async throws {
        let event = UserTierChanged(userID: user.uuid, tier: tier, before: 1, reason: "documents_checked")
        try await world.hear(event, about: user.uuid, sequence: sequence)
    }

    /// Nil when the payment was accepted.
    private func refusal(_ amount: Int64, in world: TransactionWorld) async throws -> String? {
        do {
            _ = try await world.pays("bayo", amount)
            return nil
        } catch let failure as TestFailure {
            return "\(failure)"
        }
    }

    @Test("a higher tier counts for the next payment, a lower one too, and an older word changes nothing")
    func limits() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 30_000_000, "p1")
            #expect(try await self.refusal(6_000_000, in: world)?.contains("limit_per_transfer") == true)

            try await self.change(world.ada, to: 2, sequence: 5, in: world)
            #expect(try await self.refusal(6_000_000, in: world) == nil)
            try await self.change(world.ada, to: 3, sequence: 4, in: world)
            #expect(try await self.refusal(20_000_001, in: world)?.contains("limit_per_transfer") == true)

            // Six of the five that a day allows now are spent: nothing is left, and nothing is taken back.
            try await self.change(world.ada, to: 1, sequence: 6, in: world)
            #expect(try await self.refusal(100, in: world)?.contains("limit_per_day") == true)
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE type = 'p2p'") == 1)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("what a wallet may hold follows too; a balance above it stays, and more waits in suspense")
    func ceiling() async throws {
        try await withTransaction { world in
            try await world.funds("bayo-account", 30_000_000, "p1")
            try await self.change(world.bayo, to: 2, sequence: 2, in: world)
            try await world.funds("bayo-account", 20_000_000, "p2")
            let held =
                "SELECT b.posted FROM users u JOIN balances b ON b.account_id = u.wallet_id WHERE u.username = 'bayo'"
            #expect(try await world.number(held) == 50_000_000)
            try await self.change(world.bayo, to: 1, sequence: 3, in: world)
            try await world.funds("bayo-account", 1, "p3")
            #expect(try await world.number(held) == 50_000_000)
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE route_reason = 'suspense'") == 1)
            // A tier nobody has defined allows nothing.
            try await self.change(world.bayo, to: 9, sequence: 4, in: world)
            try await world.funds("bayo-account", 1, "p4")
            #expect(try await world.number("SELECT count(*) FROM transfers WHERE route_reason = 'suspense'") == 2)
            #expect(try await world.brokenInvariants() == [])
        }
    }
}
