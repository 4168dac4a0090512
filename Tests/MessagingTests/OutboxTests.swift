import Contracts
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import Messaging

@Suite("What a transaction says")
struct OutboxTests {
    @Test("events and jobs of a commit are there in order, counted per subject; those of a rollback never were")
    func commitAndRollback() async throws {
        try await Kit.with { kit in
            let (ada, bola) = (UUID(), UUID())
            let cause = Cause(correlationID: ids.next(), causationID: ids.next(), traceparent: "00-a-b-01")
            try await kit.events.transaction(cause: cause) { transaction in
                for (user, amount) in [(ada, 1), (bola, 2), (ada, 3)] {
                    try await transaction.publish(credited(user, Int64(amount)), about: UserID(user))
                }
                try await transaction.enqueue("mail", key: "1")
            }
            await #expect(throws: HandlerFailure.self) {
                try await kit.events.transaction(cause: cause) { transaction in
                    try await transaction.publish(credited(ada, 4), about: UserID(ada))
                    try await transaction.enqueue("mail", key: "2")
                    throw HandlerFailure()
                }
            }
            try await kit.events.transaction(cause: cause) { transaction in
                try await transaction.publish(credited(ada, 5), about: UserID(ada))
            }
            let rows = try await kit.texts(
                """
                SELECT subject || ' ' || sequence || ' ' || (data::json->>'amount') || ' ' || correlation_id || ' '
                    || causation_id || ' ' || traceparent
                FROM outbox WHERE sent_at IS NULL ORDER BY position
                """
            )
            let tail = "\(cause.correlationID?.lowercased ?? "") \(cause.causationID?.lowercased ?? "") 00-a-b-01"
            let (a, b) = (ada.lowercased, bola.lowercased)
            #expect(rows == ["\(a) 1 1 \(tail)", "\(b) 1 2 \(tail)", "\(a) 2 3 \(tail)", "\(a) 3 5 \(tail)"])
            #expect(try await kit.texts("SELECT key FROM jobs") == ["1"])
        }
    }

    @Test("many statements are sent together, and one that fails takes the whole transaction with it")
    func failingStatement() async throws {
        try await Kit.with { kit in
            let user = UUID()
            await #expect(throws: PostgresError.self) {
                try await kit.events.transaction(cause: Cause()) { transaction in
                    for amount in 0..<300 {
                        try await transaction.publish(credited(user, Int64(amount)), about: UserID(user))
                    }
                    try await transaction.stage("INSERT INTO sums VALUES (\(user), 1, NULL)")
                }
            }
            let left = try await kit.number(
                "SELECT (SELECT count(*) FROM outbox) + (SELECT count(*) FROM event_sequences)"
            )
            #expect(left == 0)
        }
    }

    @Test("two transactions about one subject count without a gap, in the order of their commits")
    func oneSubject() async throws {
        try await Kit.with { kit in
            let user = UUID()
            try await withThrowingDiscardingTaskGroup { group in
                for worker in 0..<4 {
                    group.addTask {
                        for amount in 0..<25 {
                            try await kit.credit([user], Int64(worker * 25 + amount)..<Int64(worker * 25 + amount + 1))
                        }
                    }
                }
            }
            let sequences = try await kit.texts("SELECT sequence::text FROM outbox ORDER BY position").compactMap {
                Int($0)
            }
            #expect(sequences == Array(1...100))
        }
    }

    @Test("how far an outbox is behind is what is not sent, and for how long the oldest of it has waited")
    func lag() async throws {
        try await Kit.with { kit in
            let nothing = try await kit.operations().outboxLag()
            #expect(nothing == OutboxLag(unsent: 0, oldestUnsentSeconds: 0))
            try await kit.credit([UUID()], 0..<3)
            try await kit.execute(
                """
                UPDATE outbox SET sent_at = CASE WHEN position = 1 THEN now() END,
                    time = time - position * interval '1 hour'
                """
            )
            let lag = try await kit.operations().outboxLag()
            #expect(lag.unsent == 2 && (10_800..<10_860).contains(lag.oldestUnsentSeconds))
            let text = try await kit.operations().outbox()
            #expect(text.hasPrefix(#"{"oldest_unsent_seconds":108"#) && text.hasSuffix(#""unsent":2}"#))
        }
    }

    @Test("what waits is jobs by state and parked events, and for how long the oldest of them have")
    func waiting() async throws {
        try await Kit.with { kit in
            let nothing = try await kit.operations().waitingWork()
            #expect(nothing.queuedJobs == 0 && nothing.oldestDueSeconds == 0 && nothing.oldestParkedSeconds == 0)
            try await kit.execute(
                """
                INSERT INTO jobs (id, kind, key, state, due_at, created_at)
                SELECT gen_random_uuid(), 'send', state || n, state, now() - n * interval '1 minute', now()
                FROM unnest('{queued,queued,queued,running,running,failed,done,cancelled}'::text[])
                    WITH ORDINALITY AS x(state, n)
                """
            )
            try await kit.execute(
                "INSERT INTO parked_keys (subject, reason, parked_at) VALUES ('s', 'r', now() - interval '2 hours')"
            )
            try await kit.execute(
                """
                INSERT INTO parked_events (subject, id, type, body, reason, parked_at)
                SELECT 's', gen_random_uuid(), 't', '{}', 'r', now() FROM generate_series(1, 4)
                """
            )
            let work = try await kit.operations().waitingWork()
            #expect(work.queuedJobs == 3 && work.runningJobs == 2 && work.failedJobs == 1)
            #expect((180..<240).contains(work.oldestDueSeconds))
            #expect(work.parkedSubjects == 1 && work.parkedEvents == 4)
            #expect((7200..<7260).contains(work.oldestParkedSeconds))
        }
    }

    @Test("an outbox is read page by page in the order of ids, sent or not, each event as consumers get it")
    func pages() async throws {
        try await Kit.with { kit in
            try await kit.credit((0..<3).map { _ in UUID() }, 0..<25)
            try await kit.execute("UPDATE outbox SET sent_at = now() WHERE position % 2 = 0")
            let operations = kit.operations()
            var next: UUID? = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
            var lines: [Data] = []
            var pages = 0
            while let after = next {
                let page = try await operations.events(after: after, limit: 10)
                lines += page.lines.split(separator: UInt8(ascii: "\n")).map { Data($0) }
                next = page.next
                pages += 1
            }
            #expect(pages == 3)
            let rows = try await kit.client.query("SELECT id, data FROM outbox ORDER BY id").map {
                try $0.decode(UUID.self, String.self)
            }
            #expect(try lines.map { try EventEnvelope.attributes(in: $0).id } == rows.map(\.0))
            #expect(zip(lines, rows).allSatisfy { String(decoding: $0, as: UTF8.self).contains($1.1) })
            #expect(try lines.allSatisfy { try EventEnvelope.attributes(in: $0).source == "account" })
            let whole = try await operations.events(after: try #require(rows.first?.0), limit: 100)
            #expect(whole.next == nil && whole.lines.count { $0 == UInt8(ascii: "\n") } == 24)
        }
    }
}
