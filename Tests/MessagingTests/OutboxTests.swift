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
}
