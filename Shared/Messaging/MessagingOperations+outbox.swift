import Postgres

/// How far an outbox is behind.
public struct OutboxLag: Sendable, Hashable, Encodable {
    /// Events that wait to be published.
    public let unsent: Int64
    /// For how long the oldest of them has, by the database's clock.
    public let oldestUnsentSeconds: Double

    private enum CodingKeys: String, CodingKey {
        case unsent
        case oldestUnsentSeconds = "oldest_unsent_seconds"
    }
}

extension MessagingOperations {
    /// How far the outbox is behind, as JSON.
    public func outbox() async throws -> String { try self.database.tools.encode(try await self.outboxLag()) }

    /// How far the outbox is behind.
    public func outboxLag() async throws -> OutboxLag {
        let row = try await self.database.client.query(
            """
            SELECT count(*), coalesce(extract(epoch FROM transfa_now() - min(time)), 0)::float8
            FROM outbox WHERE sent_at IS NULL
            """
        ).first
        guard let row else { return OutboxLag(unsent: 0, oldestUnsentSeconds: 0) }
        let (unsent, oldest) = try row.decode(Int64.self, Double.self)
        return OutboxLag(unsent: unsent, oldestUnsentSeconds: max(0, oldest))
    }
}
