import Contracts
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("The audit of operators' acts")
struct AuditTests {
    private static func acts(_ kit: Kit) async throws -> [String] {
        try await kit.texts("SELECT actor || ' ' || act || ' ' || reason FROM audit_log ORDER BY number")
    }

    private static func job(_ key: String, _ kit: Kit) async throws -> UUID {
        try await #require(kit.client.query("SELECT id FROM jobs WHERE key = \(key)").first).decode(UUID.self)
    }

    @Test("releasing and cancelling a job stands in the audit with before and after; what changes nothing does not")
    func jobs() async throws {
        try await Kit.with { kit in
            let operations = kit.operations()
            try await kit.events.transaction(cause: Cause()) { transaction in
                try await transaction.enqueue("mail", key: "later", after: .seconds(600))
                try await transaction.enqueue("mail", key: "unwanted", after: .seconds(600))
            }
            let (later, unwanted) = (try await Self.job("later", kit), try await Self.job("unwanted", kit))
            #expect(try await operations.releaseJob(later, by: grace))
            #expect(try await operations.cancelJob(unwanted, by: grace))
            #expect(try await operations.cancelJob(unwanted, by: grace) == false)
            #expect(try await operations.releaseJob(UUID(), by: grace) == false)
            #expect(try await Self.acts(kit) == ["grace job.released a test", "grace job.cancelled a test"])
            let last = try await #require(
                kit.client.query("SELECT subject, before, after, request_id FROM audit_log WHERE number = 2").first
            )
            let (subject, before, after, request) = try last.decode(String.self, String.self, String.self, UUID.self)
            #expect(subject == unwanted.lowercased && request == grace.request)
            #expect(before == #"{"attempts":0,"key":"unwanted","kind":"mail","state":"queued"}"#)
            #expect(after == #"{"attempts":0,"key":"unwanted","kind":"mail","state":"cancelled"}"#)
            #expect(try await kit.text("SELECT state FROM jobs WHERE key = 'unwanted'") == "cancelled")
        }
    }

    @Test("a retry of parked events is two acts, the order and its end; discarding says which event went")
    func parked() async throws {
        try await Kit.with { kit in
            let user = UUID()
            let till = Till(refusing: [1])
            let bad = try incoming(user, 1)
            try await kit.processor(till.handlers()).process([bad, try incoming(user, 2)])
            let operations = kit.operations(till.handlers())
            let subject = user.lowercased
            #expect(
                try await operations.retryParked(subject: subject, by: grace).result
                    == .failedAgain(applied: 0, reason: "HandlerFailure")
            )
            #expect(try await operations.discardParked(subject: subject, event: bad.attributes.id, by: grace))
            #expect(try await operations.retryParked(subject: subject, by: grace).result == .applied(1))
            #expect(try await operations.retryParked(subject: subject, by: grace).result == .nothingParked)
            let words = try await kit.texts("SELECT act FROM audit_log ORDER BY number")
            #expect(
                words == [
                    "parked.retry_ordered", "parked.retried", "parked.discarded", "parked.retry_ordered",
                    "parked.retried",
                ]
            )
            let texts = try await kit.texts(
                "SELECT coalesce(before, '-') || ' ' || coalesce(after, '-') FROM audit_log ORDER BY number"
            )
            let decisions = try await kit.texts("SELECT id::text FROM parked_retries ORDER BY begun_at, applied")
            try #require(decisions.count == 3)
            #expect(texts[0] == #"{"events":2,"reason":"HandlerFailure"} {"decision":"\#(decisions[0])"}"#)
            let failed = #""decision":"\#(decisions[0])","outcome":"failed_again","reason":"HandlerFailure""#
            #expect(texts[1] == #"- {"applied":0,\#(failed)}"#)
            let event = bad.attributes.id.lowercased
            #expect(texts[2] == #"{"event":"\#(event)","reason":"HandlerFailure","type":"wallet.credited"} -"#)
            #expect(texts[4] == #"- {"applied":1,"decision":"\#(decisions[1])","outcome":"applied"}"#)
        }
    }

    @Test("acts at the same time make one chain, which is read from its end and is whole")
    func chain() async throws {
        try await Kit.with { kit in
            try await withThrowingDiscardingTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        try await kit.events.transaction(cause: Cause()) { transaction in
                            try await transaction.record("thing.done", on: "thing-\(number % 2)", by: grace)
                        }
                    }
                }
            }
            let operations = kit.operations()
            let check = try await operations.auditCheck()
            #expect(check.acts == 20 && check.problems.isEmpty)
            #expect(try await operations.audit(about: nil, before: 11, limit: 3).map(\.number) == [10, 9, 8])
            let own = try await operations.audit(about: "thing-1", before: .max, limit: 100)
            #expect(own.count == 10 && own.allSatisfy { $0.actor == "grace" && $0.reason == "a test" })
            // The head is the hash of the last act: whoever kept it notices a chain that was written anew.
            let last = try #require(try await operations.audit(about: nil, before: .max, limit: 1).first)
            #expect(last.hash == check.head && last.hash.count == 64)
        }
    }

    @Test(
        "an act that was changed, taken out, put in or cut off shows",
        arguments: [
            ("UPDATE audit_log SET reason = 'another' WHERE number = 1", "I26 an act is what its hash says #1"),
            ("DELETE FROM audit_log WHERE number = 1", "I26 acts are a chain without gaps #2"),
            ("DELETE FROM audit_log WHERE number = 2", "I26 the chain ends where it did #2"),
        ]
    )
    func tampering(sql: String, breach: String) async throws {
        try await Kit.with { kit in
            for _ in 0..<2 {
                try await kit.events.transaction(cause: Cause()) { transaction in
                    try await transaction.record("thing.done", on: "thing", by: grace)
                }
            }
            let found: SQL = "SELECT name || ' ' || detail FROM check_audit()"
            #expect(try await kit.texts(found).isEmpty)
            // Append only even for the owner; past it goes who turns the trigger off.
            await #expect(throws: (any Error).self) { try await kit.database.psql(sql) }
            try await kit.database.psql("ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only")
            try await kit.database.psql(sql)
            #expect(try await kit.texts(found).contains(breach))
        }
    }

    @Test("the service's roles can only append, and not without a reason")
    func rights() async throws {
        try await Kit.with { kit in
            try await kit.events.transaction(cause: Cause()) { transaction in
                try await transaction.record("thing.done", on: "thing", by: grace)
            }
            for sql: SQL in [
                "UPDATE audit_log SET actor = 'eve'", "DELETE FROM audit_log", "UPDATE audit_head SET number = 0",
                "INSERT INTO audit_log SELECT * FROM audit_log",
                "SELECT record_act('eve', 'x', 'y', '', NULL, NULL, NULL, now())",
            ] {
                await #expect(throws: (any Error).self) { try await kit.execute(sql) }
            }
            let handler = try PostgresConfiguration(url: kit.database.handlerURL)
            let client = PostgresClient(configuration: handler, logger: quiet)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await client.run() }
                await #expect(throws: (any Error).self) { try await client.query("SELECT number FROM audit_log") }
                await #expect(throws: (any Error).self) {
                    try await client.query("SELECT record_act('eve', 'x', 'y', 'z', NULL, NULL, NULL, now())")
                }
                group.cancelAll()
            }
            #expect(try await Self.acts(kit) == ["grace thing.done a test"])
        }
    }
}
