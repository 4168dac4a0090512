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

    private func completed(_ world: NotificationWorld, _ type: TransactionType = .p2p) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: world.ids.next(),
            senderID: type == .inbound ? nil : world.ada.uuid,
            recipientID: self.bola.uuid,
            amount: 123_450,
            type: Open(type),
            route: Open(.internal),
            fee: 0,
            duty: 0,
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

    @Test("money from outside is told of by wallet.credited alone")
    func inbound() async throws {
        try await withNotification { world in
            try await world.hear(self.completed(world, .inbound))
            #expect(try await world.titles(self.bola.uuid).isEmpty)
        }
    }

    @Test("pages follow each other without a gap, and reading one message leaves the others unread")
    func pages() async throws {
        try await withNotification { world in
            for _ in 0..<5 { try await world.hear(self.completed(world)) }
            let first = try await world.inbox.page(world.ada, before: nil, limit: 2, on: world.requests)
            #expect(first.count == 3)
            let rest = try await world.inbox.page(world.ada, before: first[1].id, limit: 10, on: world.requests)
            #expect(rest.count == 3)
            #expect(rest[0].id == first[2].id)
            let read = try await world.requests.transaction(as: world.ada, cause: Cause()) { transaction in
                try await world.inbox.markRead(first[0].id, of: world.ada, in: transaction)
            }
            #expect(read?.isRead == true)
            #expect(try await world.inbox.unread(world.ada, on: world.requests) == 4)
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
