import Contracts
import Foundation
import Logging
import Messaging
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

extension TransactionWorld {
    fileprivate var disputes: DisputeStore { DisputeStore(client: self.requests.client, workers: self.work.client) }

    /// Somebody reports a problem.
    @discardableResult
    fileprivate func reports(_ user: UserID, _ transfer: UUID) async throws -> Dispute {
        try await self.requests.transaction(as: user, cause: Cause()) { transaction in
            try await self.disputes.open(
                transaction.makeID(),
                of: transfer,
                by: user,
                .notReceived,
                sealedText: "s1.c2VhbGVk",
                in: transaction
            )
        }
    }

    fileprivate func answers(_ dispute: Dispute) async throws -> DisputeStore.Change {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await self.disputes.answer(dispute.id, sealedText: "s1.YW5zd2Vy", in: transaction)
        }
    }

    fileprivate func closes(_ dispute: Dispute) async throws -> Dispute {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await self.disputes.close(dispute.id, .explained, in: transaction).after
        }
    }
}

@Suite("Reported problems", .serialized)
struct DisputeTests {
    @Test("both parties report a transfer, each once at a time, with 72 hours to answer; nobody else can")
    func opened() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let transfer = try await world.pays("bayo", 300)
            let dispute = try await world.reports(world.ada, transfer)
            #expect(dispute.state == "open" && dispute.reason == "not_received")
            #expect(dispute.dueAt.timeIntervalSince(dispute.openedAt) == 72 * 3600)
            await #expect(throws: DisputeRefusal.open) { try await world.reports(world.ada, transfer) }
            try await world.reports(world.bayo, transfer)
            let stranger = UserID(clerkSubject: "user_eve")
            await #expect(throws: DisputeRefusal.unknown) { try await world.reports(stranger, transfer) }
            await #expect(throws: DisputeRefusal.unknown) { try await world.reports(world.ada, world.ids.next()) }
            #expect(try await world.disputes.disputes(of: transfer, by: world.ada).map(\.id) == [dispute.id])
            // Row level security, not only the query.
            let rows = try await world.requests.client.query("SELECT id FROM disputes", as: stranger.uuid)
            #expect(rows.isEmpty)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("of two reports at the same time one is taken")
    func race() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let transfer = try await world.pays("bayo", 300)
            let taken = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<4 {
                    group.addTask { (try? await world.reports(world.ada, transfer)) != nil }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(taken == 1)
        }
    }

    @Test("it is answered, also twice, and closed once; then another report is possible, five in all")
    func closed() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let transfer = try await world.pays("bayo", 300)
            for number in 1...5 {
                let dispute = try await world.reports(world.ada, transfer)
                if number == 1 {
                    #expect(try await world.answers(dispute).before.state == "open")
                    // As it was found, whatever whoever answers had seen before.
                    let again = try await world.answers(dispute)
                    #expect(again.before.state == "answered" && again.after.state == "answered")
                }
                let closed = try await world.closes(dispute)
                #expect(closed.state == "closed" && closed.outcome == "explained" && closed.closedAt != nil)
                await #expect(throws: DisputeRefusal.closed) { try await world.answers(dispute) }
                await #expect(throws: DisputeRefusal.closed) { try await world.closes(dispute) }
            }
            await #expect(throws: DisputeRefusal.tooMany) { try await world.reports(world.ada, transfer) }
        }
    }

    @Test("operators see the most urgent first, and what is overdue is counted until it is answered")
    func clock() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let first = try await world.reports(world.ada, try await world.pays("bayo", 10))
            try await world.passes(.seconds(3600))
            let second = try await world.reports(world.ada, try await world.pays("bayo", 10))
            #expect(try await world.disputes.list(.pending, limit: 10).map(\.id) == [first.id, second.id])
            try await world.passes(.seconds(71 * 3600))
            let registry = PrometheusRegistry()
            let metrics = DisputeMetrics(store: world.disputes, registry: registry, logger: Logger(label: "test"))
            try await metrics.refresh()
            #expect(registry.text().contains("transfa_disputes_open 2"))
            #expect(registry.text().contains("transfa_disputes_overdue 1"))
            _ = try await world.answers(first)
            try await metrics.refresh()
            #expect(registry.text().contains("transfa_disputes_overdue 0"))
            _ = try await world.closes(first)
            #expect(try await world.disputes.list(.closed, limit: 10).map(\.id) == [first.id])
            #expect(try await world.disputes.list(.pending, limit: 10).map(\.id) == [second.id])
        }
    }

    @Test(
        "a report says something that shows, in a reason of the list",
        arguments: [
            ("not_received", "", "/text"), ("not_received", "   ", "/text"), ("not_received", "a\u{7}", "/text"),
            ("not_received", "a\nb", "/text"), ("not_received", String(repeating: "a", count: 501), "/text"),
            ("not_received", "e" + String(repeating: "\u{301}", count: 30_000), "/text"),
            ("because", "It is gone", "/reason"),
        ]
    )
    func malformed(reason: String, text: String, pointer: String) {
        let problem = #expect(throws: FieldProblem.self) { try DisputeDraft(reason: reason, text: text) }
        #expect(problem?.pointer == pointer)
    }
}
