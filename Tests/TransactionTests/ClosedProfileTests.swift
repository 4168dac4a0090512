import Contracts
import Foundation
import Messaging
import ObjectStorage
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
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

    @Test("closed is the last word: neither a lifted restriction nor an older event opens a profile again")
    func lastWord() async throws {
        try await withTransaction { world in
            let sql = "SELECT status, debits_blocked, restriction_sequence FROM users WHERE id = '\(world.bayo)'"
            try await self.restrict(world.bayo, .frozen, sequence: 1, in: world)
            try await self.restrict(world.bayo, .none, sequence: 2, in: world)
            #expect(try await world.database.psql(sql) == ["active|f|2"])
            try await self.restrict(world.bayo, .closed, sequence: 4, in: world)
            try await self.restrict(world.bayo, .frozen, sequence: 3, in: world)
            try await self.restrict(world.bayo, .none, sequence: 5, in: world)
            #expect(try await world.database.psql(sql) == ["closed|t|5"])
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 2)
            try await self.restrict(world.ada, .none, sequence: 1, in: world)
            #expect(try await world.number("SELECT count(*) FROM users WHERE status = 'closed'") == 2)
        }
    }

    /// Asks for money as Bayo.
    private func asks(in world: TransactionWorld) async throws -> UUID {
        let draft = try PaymentRequestDraft(amount: 100, payer: nil, description: nil, expiresAt: nil)
        return try await world.asUser(world.bayo) { transaction in
            let new = PaymentRequestStore.New(
                id: UUID(),
                owner: world.bayo,
                draft: draft,
                sealedDescription: nil,
                link: "https://example.com/r/1",
                expiresAt: transaction.now.addingTimeInterval(3600)
            )
            try await PaymentRequestStore(client: world.requests.client, workers: world.work.client)
                .create(new, in: transaction)
            return new.id
        }
    }

    @Test("what a closed profile has open ends with it, images included, and then it may be erased")
    func products() async throws {
        try await withTransaction { world in
            let images = RequestImageStore(workers: world.work.client)
            let asked = try await self.asks(in: world)
            let record = ImageRecord(key: .random(), owner: world.bayo, contentType: "image/png")
            try await world.asUser(world.bayo) { transaction in
                try await images.announce(record, of: asked, in: transaction)
                _ = try await images.show(record.key, of: asked, owner: world.bayo, in: transaction)
            }
            try await self.restrict(world.bayo, .closed, sequence: 1, in: world)
            #expect(try await !self.isCleared(world.bayo, in: world))
            let close = CloseProducts(database: world.work, store: ClosureStore(), images: images)
            let user = world.bayo.description
            #expect(try await world.run(TransactionJob.closeProducts, user) { try await close($0) } == .done)
            #expect(try await world.said(PaymentRequestCancelled.self).map(\.paymentRequestID) == [asked])
            let replaced = DiscardRequestImage.replacedKey(record.key)
            #expect(try await world.state(of: TransactionJob.discardImage, replaced) == "queued")
            #expect(try await self.isCleared(world.bayo, in: world))
            #expect(try await world.state(of: TransactionJob.closeProducts, user) == "queued")
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
            let question = ApprovalFacts.Question(user: world.ada, device: reset, sessions: [])
            let facts = try await ApprovalFactStore().facts(question, on: world.requests.client)
            #expect(facts == ApprovalFacts(deviceKey: nil, pinSequence: 3))
            try await world.passes(.seconds(24 * 3600))
            // The same event once more does not begin another day.
            try await world.hear(event, sequence: 2)
            try await world.pays("bayo", 2_000_001)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("the first PIN caps what PINs approve for a day, too, and ends no token that knew of it")
    func firstPIN() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 10_000_000, "p-1")
            let first = PINSet(
                userID: world.ada.uuid,
                setID: world.ids.next(),
                setAt: Timestamp.text(world.clock.now)
            )
            try await world.hear(first, sequence: 2)
            await #expect(throws: (any Error).self) { try await world.pays("bayo", 2_000_001) }
            try await world.pays("bayo", 2_000_000)
            let question = ApprovalFacts.Question(user: world.ada, device: nil, sessions: ["sess_1"])
            let facts = { try await ApprovalFactStore().facts(question, on: world.requests.client) }
            #expect(try await facts() == ApprovalFacts(deviceKey: nil, pinSequence: 2))
            let now = Timestamp.text(world.clock.now)
            try await world.hear(SessionEnded(userID: world.ada.uuid, sessionID: "sess_1", endedAt: now), sequence: 3)
            try await world.hear(
                PINLocked(userID: world.ada.uuid, lockID: world.ids.next(), lockedUntil: now),
                sequence: 4
            )
            #expect(try await facts() == ApprovalFacts(deviceKey: nil, pinSequence: 4, hasEndedSession: true))
            try await world.passes(.seconds(24 * 3600))
            try await world.pays("bayo", 2_000_001)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test(
        "a reset whose event is late caps from the reset on: what PINs sent meanwhile is counted, and the day ends in time"
    )
    func latePINReset() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 10_000_000, "p-1")
            let reset = PINReset(
                userID: world.ada.uuid,
                resetID: world.ids.next(),
                resetAt: Timestamp.text(world.clock.now)
            )
            try await world.passes(.seconds(3600))
            try await world.pays("bayo", 1_500_000)
            try await world.passes(.seconds(3600))
            try await world.hear(reset, sequence: 2)
            await #expect(throws: (any Error).self) { try await world.pays("bayo", 500_001) }
            try await world.pays("bayo", 500_000)
            try await world.passes(.seconds(22 * 3600))
            try await world.pays("bayo", 2_000_001)
            #expect(try await world.brokenInvariants() == [])
        }
    }
}
