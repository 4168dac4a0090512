import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

extension TransactionWorld {
    fileprivate func clears(_ alert: UUID) async throws -> String {
        try await self.work.transaction(cause: Cause()) { transaction in
            let order = OperatorOrder(name: "grace", reason: "a landlord")
            return try await RiskAlertStore().clear(alert, by: order, in: transaction)
        }
    }
}

@Suite("Payments that stand out")
struct RiskAlertTests {
    @Test("an alert says how much there is of what it is about, and whoever has looked clears it, once")
    func cleared() async throws {
        try await withTransaction { world in
            let user = world.ada
            try await world.database.psql(
                """
                INSERT INTO risk_alerts (id, user_id, kind, counted, received, sent, first_seen, last_seen)
                SELECT gen_random_uuid(), '\(user)', x.kind, x.counted, x.received, x.sent, transfa_now(), transfa_now()
                FROM (VALUES ('many_recipients', 21, NULL, NULL), ('many_senders', 22, NULL, NULL),
                    ('many_drops', 5, NULL, NULL), ('passes_on', NULL, 10000000, 9000000)) AS x(kind, counted, received, sent)
                """
            )
            let open = try await RiskAlertStore().open(limit: 10, on: world.work)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let details = try open.map { alert in
                let detail = String(decoding: try encoder.encode(alert.detail), as: UTF8.self)
                return "\(alert.kind.rawValue) \(detail)"
            }
            #expect(
                details.sorted() == [
                    #"many_drops {"drops":5}"#, #"many_recipients {"recipients":21}"#, #"many_senders {"senders":22}"#,
                    #"passes_on {"received":10000000,"sent":9000000}"#,
                ]
            )
            let alert = try #require(open.first { $0.kind == .passesOn }).id
            #expect(try await world.clears(alert) == "cleared")
            #expect(try await world.clears(alert) == "decided")
            #expect(try await world.clears(world.ids.next()) == "unknown")
            let left = try await RiskAlertStore().open(limit: 10, on: world.work)
            #expect(left.count == 3 && !left.contains { $0.id == alert })
            let before =
                #"{"detail":{"received":10000000,"sent":9000000},"kind":"passes_on","risk_alert":"\#(alert.lowercased)"}"#
            #expect(
                try await world.acts("risk_alert.") == [
                    #"grace|risk_alert.cleared|\#(user)|a landlord|\#(before)|{"reason":"a landlord"}|"#
                ]
            )
        }
    }
}
