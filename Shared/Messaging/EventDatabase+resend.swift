import Postgres
import Primitives

extension EventDatabase {
    /// Marks unsent what was sent within a span from now, and wakes the relay.
    ///
    /// It is published again in its old order; who has handled it drops it.
    ///
    /// - Returns: How many events.
    func resend(sentWithin span: Duration) async throws -> Int {
        try await self.transaction(cause: Cause()) { try await Self.resend(sentWithin: span, in: $0) }
    }

    /// The same in a transaction, whose commit wakes the relay.
    static func resend(sentWithin span: Duration, in transaction: EventTransaction) async throws -> Int {
        let rows = try await transaction.query(
            """
            WITH again AS (
                UPDATE outbox SET sent_at = NULL
                WHERE sent_at > clock_timestamp() - \(span.wholeMilliseconds) * interval '1 millisecond' RETURNING 1
            )
            SELECT count(*) FROM again
            """
        )
        return Int(try rows.first?.decode(Int64.self) ?? 0)
    }
}
