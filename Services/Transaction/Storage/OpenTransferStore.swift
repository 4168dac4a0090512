import Messaging
import Postgres

/// How many transfers of a route stand in a state, how much money they hold, and how old the oldest is.
struct OpenTransfers: Sendable, Equatable {
    let state: String
    let route: String
    let count: Int64
    /// Kobo, with fee and duty.
    let amount: Int64
    let oldestSeconds: Double
}

/// Transfers under way, found by the jobs that accompany them.
struct OpenTransferStore: Sendable {
    let client: PostgresClient

    /// The states in which money is held.
    static let states = ["accepted", "submitted", "unknown"]

    /// One entry per state and route that have any.
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
            SELECT t.state, t.route, count(*), sum(t.amount)::bigint,
                extract(epoch FROM transfa_now() - min(t.created_at))::float8
            FROM open o
            CROSS JOIN LATERAL (
                SELECT x.state, x.route, x.created_at, x.amount + x.fee + x.duty AS amount FROM transfers x
                WHERE x.id = o.id OFFSET 0) t
            WHERE t.state = ANY (\(Self.states))
            GROUP BY t.state, t.route
            """
        ).map { row in
            let (state, route, count, amount, age) = try row.decode(
                String.self,
                String.self,
                Int64.self,
                Int64.self,
                Double.self
            )
            return OpenTransfers(state: state, route: route, count: count, amount: amount, oldestSeconds: age)
        }
    }
}
