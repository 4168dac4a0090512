import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import Testing

@testable import TransactionService

@Suite("Closed profiles and reset PINs")
struct ClosedProfileTests {
    private func restrict(
        _ user: UserID,
        _ restriction: Restriction,
        sequence: Int64,
        in world: TransactionWorld
    ) async throws {
        let event = UserRestricted(userID: user.uuid, restriction: Open(restriction), reason: "profile_closed")
        try await world.hear(event, about: user.uuid, sequence: sequence)
    }

    /// Whether the question whether a user may be erased is answered.
    private func isCleared(_ user: UserID, in world: TransactionWorld) async throws -> Bool {
        let before = try await world.said(UserErasureCleared.self).count
        try await world.hear(UserErasureDue(userID: user.uuid), about: user.uuid, sequence: 9)
        return try await world.said(UserErasureCleared.self).count > before
    }

    @Test("a closed profile may be erased when it has no money, none on its way and none in suspense")
    func erasure() async throws {
        try await withTransaction { world in
            // Open.
            #expect(try await !self.isCleared(world.bayo, in: world))
            try await world.funds("ada-account", 1000, "p-1")
            try await world.pays("bayo", 1000)
            try await self.restrict(world.bayo, .closed, sequence: 1, in: world)
            // On its way.
            #expect(try await !self.isCleared(world.bayo, in: world))
            try await world.passes(.seconds(25 * 3600))
            try await world.runs { try await LedgerUpkeep().failUnsent(in: $0) }
            #expect(try await self.isCleared(world.bayo, in: world))

            try await self.restrict(world.ada, .closed, sequence: 1, in: world)
            // In the wallet.
            #expect(try await !self.isCleared(world.ada, in: world))
            // In suspense.
            try await world.funds("bayo-account", 500, "p-2")
            #expect(try await !self.isCleared(world.bayo, in: world))
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("an erased user has no name any more and cannot be paid")
    func erased() async throws {
        try await withTransaction { world in
            try await world.hear(UserErased(userID: world.bayo.uuid), about: world.bayo.uuid, sequence: 2)
            #expect(
                try await world.history.usernames(of: [world.bayo.uuid, world.ada.uuid]) == [
                    world.bayo.uuid: "[erased]", world.ada.uuid: "ada",
                ]
            )
            #expect(try await world.number("SELECT count(*) FROM users WHERE username = 'bayo'") == 0)
        }
    }

    @Test("a reset PIN caps what PINs approve for a day, and is a key of nobody")
    func pinReset() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 10_000_000, "p-1")
            try await world.pays("bayo", 2_000_001)
            let reset = world.ids.next()
            let event = PINReset(userID: world.ada.uuid, resetID: reset, resetAt: Timestamp.text(world.clock.now))
            for sequence in [2, 3] as [Int64] { try await world.hear(event, sequence: sequence) }
            await #expect(throws: (any Error).self) { try await world.pays("bayo", 2_000_001) }
            try await world.pays("bayo", 1_500_000)
            await #expect(throws: (any Error).self) { try await world.pays("bayo", 500_001) }
            #expect(try await world.history.deviceKey(reset, of: world.ada) == nil)
            try await world.passes(.seconds(24 * 3600))
            try await world.pays("bayo", 2_000_001)
            #expect(try await world.brokenInvariants() == [])
        }
    }
}
