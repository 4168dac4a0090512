import Postgres
import Primitives

extension EventDatabase {
    /// Marks unsent what was sent within a span from now, and wakes the relay.
    ///
    /// It is published again in its old order; who has handled it drops it.
    ///
    /// - Returns: How many events.
    func resend(sentWithin span: Duration) async throws -> Int {
        let count = try await self.client.withTransaction { sql in
            try await sql.execute(
                """
                UPDATE outbox SET sent_at = NULL
                WHERE sent_at > clock_timestamp() - \(span.wholeMilliseconds) * interval '1 millisecond'
                """
            )
        }
        self.wake()
        return Int(count)
    }
}
