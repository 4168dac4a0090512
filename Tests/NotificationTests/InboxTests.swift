import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("The inbox", .serialized)
struct InboxTests {
    private let bola = UserID(clerkSubject: "user_bola")

    private func completed(
        _ world: NotificationWorld,
        _ type: TransactionType = .p2p,
        _ routeReason: String? = nil
    ) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: world.ids.next(),
            senderID: type == .inbound ? nil : world.ada.uuid,
            recipientID: self.bola.uuid,
            amount: 123_450,
            type: Open(type),
            route: Open(.internal),
            fee: 0,
            duty: 0,
            routeReason: routeReason,
            timestamp: Timestamp.text(world.clock.now)
        )
    }

    @Test("sender and recipient of a transfer hear it differently, and once per event")
    func transfer() async throws {
        try await withNotification { world in
            let id = world.ids.next()
            let event = self.completed(world)
            try await world.hear(event, id: id)
            try await world.hear(event, id: id)
            #expect(try await world.titles(world.ada.uuid) == ["Transfer Successful"])
            #expect(try await world.titles(self.bola.uuid) == ["Money Received"])
            let bodies = try await world.database.psql(
                "SELECT body FROM notifications WHERE kind = 'transaction.received'"
            )
            #expect(bodies == ["₦1,234.50 arrived in your wallet."])
        }
    }

    @Test("who is paid while the wallet may not take it hears that the money is on hold, who paid that it was sent")
    func suspended() async throws {
        try await withNotification { world in
            var event = self.completed(world)
            event.routeReason = "suspense"
            try await world.hear(event)
            #expect(try await world.titles(world.ada.uuid) == ["Transfer Successful"])
            #expect(try await world.titles(self.bola.uuid) == ["Money On Hold"])
        }
    }

    @Test("limits that change are told, up and down, in different words")
    func limits() async throws {
        try await withNotification { world in
            for (before, tier) in [(1, 3), (3, 2)] {
                let event = UserTierChanged(
                    userID: world.ada.uuid,
                    tier: tier,
                    before: before,
                    reason: "documents_checked"
                )
                try await world.hear(event, sequence: Int64(before))
            }
            #expect(try await world.titles(world.ada.uuid) == ["Your Limits", "Your Limits"])
            let bodies = try await world.database.psql("SELECT body FROM notifications ORDER BY position")
            #expect(bodies.map { $0.contains("higher") } == [true, false] && bodies[1].contains("lower"))
        }
    }

    @Test("money from outside is told of once, where the books have put it: in the wallet, on hold, released")
    func inbound() async throws {
        try await withNotification { world in
            let first = world.ids.next()
            let credited = self.completed(world, .inbound, "credited")
            for _ in 0..<2 { try await world.hear(credited, id: first) }
            try await world.hear(self.completed(world, .inbound, "suspense"))
            try await world.hear(self.completed(world, .inbound, "released"))
            let inbox = try await world.inbox.news(self.bola, after: 0, limit: 10, on: world.requests)
            #expect(inbox.map(\.kind) == ["wallet.credited", "wallet.suspended", "wallet.credited"])
            #expect(inbox.map(\.category) == ["money", "money", "money"])
            #expect(inbox.first?.subject == credited.transactionID.lowercased)
            #expect(inbox.first?.body == "₦1,234.50 was added to your wallet.")
            #expect(inbox[1].body.contains("on hold"))
        }
    }

    @Test("what was left of a drop and waits in suspense is not said to be in the wallet")
    func suspendedRefund() async throws {
        try await withNotification { world in
            var refund = self.completed(world, .dropRefund, "suspense")
            refund.senderID = nil
            try await world.hear(refund)
            refund.transactionID = world.ids.next()
            refund.routeReason = "released"
            try await world.hear(refund)
            #expect(try await world.titles(self.bola.uuid) == ["Money Received", "Money On Hold"])
        }
    }

    @Test("account's word of a payment is not told of: only the ledger knows where the money went")
    func oneSource() {
        #expect(!NotificationWorld.handlers.types.contains(WalletCredited.type))
    }

    @Test("pages follow each other without a gap while messages come, and reading one leaves the others unread")
    func pages() async throws {
        try await withNotification { world in
            for _ in 0..<5 { try await world.hear(self.completed(world)) }
            let first = try await world.inbox.page(world.ada, before: nil, limit: 2, on: world.requests)
            #expect(first.map(\.position) == [5, 4, 3])
            try await world.hear(self.completed(world))
            let rest = try await world.inbox.page(world.ada, before: first[1].position, limit: 10, on: world.requests)
            #expect(rest.map(\.position) == [3, 2, 1])
            #expect(rest[0].id == first[2].id)
            try await world.read(first[0].id, as: world.ada)
            #expect(try await world.read(first[0].id, as: world.ada)?.isRead == true)
            let state = try await world.inbox.state(world.ada, on: world.requests)
            #expect(state == InboxState(lastPosition: 6, unread: 5, revision: 7))
        }
    }

    @Test("everything up to a message is read at once, what came after it is not, and a second time changes nothing")
    func readAll() async throws {
        try await withNotification { world in
            for _ in 0..<6 { try await world.hear(self.completed(world)) }
            let all = try await world.inbox.page(world.ada, before: nil, limit: 10, on: world.requests)
            // One of those that stay unread is read by itself.
            try await world.read(all[0].id, as: world.ada)
            #expect(try await world.readAll(upTo: all[2].id, as: world.ada) == 1)
            let read = try await world.inbox.page(world.ada, before: nil, limit: 10, on: world.requests)
            #expect(read.map(\.isRead) == [true, false, true, true, true, true])
            let before = try await world.inbox.state(world.ada, on: world.requests)
            #expect(try await world.readAll(upTo: all[4].id, as: world.ada) == 1)
            try await world.read(all[3].id, as: world.ada)
            #expect(try await world.inbox.state(world.ada, on: world.requests) == before)
            #expect(try await world.readAll(as: world.ada) == 0)
            #expect(try await world.readAll(upTo: world.ids.next(), as: world.ada) == nil)
            #expect(try await world.inbox.state(world.ada, on: world.requests).unread == 0)
            try await world.hear(self.completed(world))
            #expect(try await world.inbox.state(world.ada, on: world.requests).unread == 1)
        }
    }

    @Test("messages of one person that are committed at once have positions without gaps, each event one")
    func atOnce() async throws {
        try await withNotification { world in
            let events = (0..<8).map { _ in world.ids.next() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in events + events {
                    group.addTask { try await world.moneyArrives(id: id) }
                }
                try await group.waitForAll()
            }
            let found = try await world.inbox.news(world.ada, after: 0, limit: 100, on: world.requests)
            #expect(found.map(\.position) == Array(1...8))
            let state = try await world.inbox.state(world.ada, on: world.requests)
            #expect(state.lastPosition == 8 && state.unread == 8)
        }
    }

    @Test("old messages are forgotten, in part if there are many, and no longer count as unread")
    func retention() async throws {
        try await withNotification { world in
            for _ in 0..<3 { try await world.hear(self.completed(world)) }
            try await world.readAll(as: world.ada)
            try await world.hear(self.completed(world))
            world.clock.advance(by: .seconds(3600))
            try await world.hear(self.completed(world))
            let border = world.clock.now.addingTimeInterval(-1800)
            let forget = { (limit: Int) in
                try await world.work.transaction(cause: Cause()) { transaction in
                    try await world.inbox.forget(before: border, limit: limit, in: transaction)
                }
            }
            // Each event tells sender and recipient.
            #expect(try await forget(5) == 5)
            #expect(try await forget(100) == 3)
            #expect(try await forget(100) == 0)
            let left = try await world.inbox.page(world.ada, before: nil, limit: 10, on: world.requests)
            #expect(left.map(\.position) == [5])
            #expect(try await world.inbox.state(world.ada, on: world.requests).unread == 1)
            #expect(try await world.inbox.state(self.bola, on: world.requests).unread == 1)
        }
    }

    @Test("nobody reads or marks another's messages")
    func privacy() async throws {
        try await withNotification { world in
            try await world.hear(self.completed(world))
            let id = try #require(
                try await world.inbox.page(world.ada, before: nil, limit: 1, on: world.requests).first?.id
            )
            let marked = try await world.requests.transaction(as: self.bola, cause: Cause()) { transaction in
                try await world.inbox.markRead(id, of: world.ada, in: transaction)
            }
            #expect(marked == nil)
            let rows = try await world.requests.client.query("SELECT id FROM notifications", as: self.bola.uuid)
            #expect(rows.count == 1)
        }
    }

    @Test("erasing a user empties the inbox and keeps it empty")
    func erased() async throws {
        try await withNotification { world in
            try await world.hear(self.completed(world))
            try await world.hear(UserErased(userID: world.ada.uuid))
            try await world.hear(self.completed(world))
            #expect(try await world.titles(world.ada.uuid).isEmpty)
            #expect(try await world.titles(self.bola.uuid).count == 2)
        }
    }
}
