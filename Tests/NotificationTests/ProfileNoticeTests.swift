import AnchorClient
import Contracts
import Foundation
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("What is told about profile and security", .serialized)
struct ProfileNoticeTests {
    private func inbox(_ world: NotificationWorld) async throws -> [InboxEntry] {
        try await world.inbox.news(world.ada, after: 0, limit: 20, on: world.requests)
    }

    @Test(
        "a first PIN, a changed, a reset and a locked one and a new device are told of under security, which nobody can turn off"
    )
    func security() async throws {
        try await withNotification { world in
            let (user, now) = (world.ada.uuid, Timestamp.text(world.clock.now))
            try await world.hear(PINSet(userID: user, setID: world.ids.next(), setAt: now))
            try await world.hear(PINLocked(userID: user, lockID: world.ids.next(), lockedUntil: now))
            try await world.hear(PINChanged(userID: user, changeID: world.ids.next(), changedAt: now))
            try await world.hear(PINReset(userID: user, resetID: world.ids.next(), resetAt: now))
            let device = world.ids.next()
            try await world.hear(
                DeviceRegistered(userID: user, deviceID: device, publicKey: "text", activatedAt: now)
            )
            let inbox = try await self.inbox(world)
            #expect(inbox.map(\.kind) == ["pin.set", "pin.locked", "pin.changed", "pin.reset", "device.registered"])
            #expect(inbox.allSatisfy { $0.category == "security" })
            #expect(inbox.last?.subject == device.lowercased)
            for channel in [NotificationChannels(inApp: false), NotificationChannels(push: false)] {
                let wish = NotificationPreferencesRequest(categories: NotificationCategories(security: channel))
                await #expect(throws: NotificationError.self) { try await world.change(wish, of: world.ada) }
            }
        }
    }

    @Test(
        "each verdict about the identity has words of its own, which say what to do",
        arguments: [
            ("awaitingDocument", "customer.rejected", "document"), ("manualReview", "customer.rejected", "a person"),
            ("rejected", "customer.rejected", "BVN"), ("reenter_information", "customer.rejected", "Enter them again"),
            ("error", "customer.rejected", "tried again"), ("approved", "customer.verified", "was confirmed"),
        ]
    )
    func verdict(word: String, kind: String, words: String) async throws {
        try await withNotification { world in
            try await world.adaIsCustomer()
            try await world.verdict("1-anc_et", word)
            // For what the person has to do the provider has no word when it is asked.
            let said: [String: ProviderVerification] = [
                "manualReview": .manualReview, "rejected": .rejected, "approved": .approved,
            ]
            try await world.confirm("1-anc_et", said[word] ?? .pending)
            let inbox = try await self.inbox(world)
            #expect(inbox.map(\.kind) == [kind])
            #expect(inbox.first?.body.contains(words) == true, "\(inbox.map(\.body))")
        }
    }

    @Test(
        "details that the provider does not take are told of with what to correct",
        arguments: [("email_in_use", "e-mail"), ("phone_invalid", "phone number"), ("a_later_code", "each of them")]
    )
    func refused(reason: String, words: String) async throws {
        try await withNotification { world in
            try await world.hear(
                CustomerDetailsRefused(userID: world.ada.uuid, reason: reason, detailsSequence: 2)
            )
            let inbox = try await self.inbox(world)
            #expect(inbox.map(\.title) == ["Identity Check"])
            #expect(inbox.first?.body.contains(words) == true, "\(inbox.map(\.body))")
        }
    }

    @Test("who reports a problem with a transfer hears that it was received, answered and closed, and until when")
    func disputes() async throws {
        try await withNotification { world in
            let (user, transfer, id) = (world.ada.uuid, world.ids.next(), world.ids.next())
            let now = "2026-11-21T01:07:05.123Z"
            try await world.hear(
                DisputeOpened(
                    disputeID: id,
                    transactionID: transfer,
                    userID: user,
                    reason: "not_received",
                    dueAt: "2026-11-23T23:30:00.000Z",
                    timestamp: now
                )
            )
            try await world.hear(DisputeAnswered(disputeID: id, transactionID: transfer, userID: user, timestamp: now))
            for outcome in [Open(DisputeEnd.refunded), .unknown("forgiven")] {
                let closed = DisputeClosed(
                    disputeID: id,
                    transactionID: transfer,
                    userID: user,
                    outcome: outcome,
                    timestamp: now
                )
                try await world.hear(closed)
            }
            let inbox = try await self.inbox(world)
            #expect(inbox.map(\.title) == ["Report Received", "Report Answered", "Report Closed", "Report Closed"])
            // The day in Lagos.
            #expect(inbox.first?.body.contains("by 2026-11-24") == true)
            #expect(inbox[2].body.contains("given back") && !inbox[3].body.contains("forgiven"))
            #expect(inbox.allSatisfy { $0.category == "money" && $0.subject == transfer.lowercased })
        }
    }

    @Test("who closed a profile is known, also before the sign-up is heard of, and nothing opens it again")
    func closedProfiles() async throws {
        try await withNotification { world in
            let profiles = ProfileStore()
            #expect(try await profiles.state(of: world.ada, on: world.requests) == .open)
            for (sequence, word) in [(1, Restriction.frozen), (2, .closed), (3, .none)] {
                let event = UserRestricted(userID: world.ada.uuid, restriction: Open(word), reason: "a_test")
                try await world.hear(event, sequence: Int64(sequence))
                let isClosed = try await profiles.state(of: world.ada, on: world.requests) == .closed
                #expect(isClosed == (sequence > 1))
            }
            let bola = UserID(clerkSubject: "user_bola")
            #expect(try await profiles.state(of: bola, on: world.requests) == .open)
            try await world.hear(UserErased(userID: bola.uuid), about: bola.uuid, sequence: 1)
            #expect(try await profiles.state(of: bola, on: world.requests) == .closed)
        }
    }
}
