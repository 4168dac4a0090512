import Foundation
import Messaging
import Postgres
import Primitives

/// The table `blocks`: whom users have blocked.
struct BlockStore: Sendable {
    /// Adds a block.
    ///
    /// - Returns: Whether there was none.
    func insert(_ blocked: UserID, by user: UserID, in transaction: EventTransaction) async throws -> Bool {
        try await !transaction.query(
            """
            INSERT INTO blocks (user_id, blocked_id, created_at)
            VALUES (\(user.uuid), \(blocked.uuid), \(transaction.now)) ON CONFLICT DO NOTHING RETURNING user_id
            """
        ).isEmpty
    }

    /// Takes a block away.
    ///
    /// - Returns: Whether there was one.
    func delete(_ blocked: UserID, by user: UserID, in transaction: EventTransaction) async throws -> Bool {
        try await !transaction.query(
            "DELETE FROM blocks WHERE user_id = \(user.uuid) AND blocked_id = \(blocked.uuid) RETURNING user_id"
        ).isEmpty
    }

    /// How many a user has blocked.
    func count(of user: UserID, in transaction: EventTransaction) async throws -> Int64 {
        try await transaction.query("SELECT count(*) FROM blocks WHERE user_id = \(user.uuid)").first?
            .decode(Int64.self) ?? 0
    }

    /// Whom a user has blocked, newest first; as the user.
    func list(_ user: UserID, limit: Int, on database: EventDatabase) async throws -> [(id: UUID, since: Date)] {
        try await database.client.query(
            """
            SELECT blocked_id, created_at FROM blocks WHERE user_id = \(user.uuid)
            ORDER BY created_at DESC, blocked_id LIMIT \(Int64(limit))
            """,
            as: user.uuid
        ).map { row in
            let (id, since) = try row.decode(UUID.self, Date.self)
            return (id, since)
        }
    }
}
