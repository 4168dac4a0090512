import Messaging
import Postgres

/// How many transfers stand in a state, how much money they hold, and how long the oldest has stood there.
struct OpenTransfers: Sendable, Equatable, Encodable {
    let state: String
    let count: Int64
    /// Kobo, with fee and duty.
    let amount: Int64
    let oldestSeconds: Double

    private enum CodingKeys: String, CodingKey {
        case state, count, amount
        case oldestSeconds = "oldest_seconds"
    }
}

/// Transfers under way, found by the jobs that accompany them.
struct OpenTransferStore: Sendable {
    let client: PostgresClient

    /// The states in which money is held.
    static let states = ["accepted", "submitted", "unknown"]

    /// One entry per state that has any.
    ///
    /// Each half of `open` has a partial index of its own, and each of its rows is looked up by id: whatever the planner
    /// believes about tables that have just grown, it reads no table whole.
    func counts() async throws -> [OpenTransfers] {
        try await self.client.query(
            """
            WITH open AS MATERIALIZED (
                SELECT key::uuid AS id FROM jobs WHERE kind = \(TransactionJob.submit.rawValue) AND state = 'queued'
                UNION ALL
                SELECT key::uuid FROM jobs WHERE kind = \(TransactionJob.submit.rawValue) AND state = 'running')
            SELECT t.state, count(*), sum(t.amount)::bigint, extract(epoch FROM transfa_now() - min(t.created_at))::float8
            FROM open o
            CROSS JOIN LATERAL (
                SELECT x.state, x.created_at, x.amount + x.fee + x.duty AS amount FROM transactions x
                WHERE x.id = o.id OFFSET 0) t
            WHERE t.state = ANY (\(Self.states))
            GROUP BY t.state
            """
        ).map { row in
            let (state, count, amount, age) = try row.decode(String.self, Int64.self, Int64.self, Double.self)
            return OpenTransfers(state: state, count: count, amount: amount, oldestSeconds: age)
        }
    }
}
