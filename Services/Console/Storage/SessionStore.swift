import Foundation
import Messaging
import Postgres

/// The rows of operators' sessions.
struct SessionStore: Sendable {
    private static let columns: SQL = "id, operator, way, credential, created_at, seen_at, expires_at"

    /// Keeps a new one.
    func insert(_ session: OperatorSession, _ secret: SessionSecret, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO operator_sessions (id, secret_hash, operator, way, credential, created_at, seen_at, expires_at)
            VALUES (\(session.id), \(secret.hash), \(session.name), \(session.way.rawValue), \(session.credential),
                \(session.createdAt), \(session.seenAt), \(session.expiresAt))
            """
        )
    }

    /// The one that a secret opens, unless it has been ended.
    func find(_ secret: SessionSecret, on database: EventDatabase) async throws -> OperatorSession? {
        try await database.client.query(
            "SELECT \(Self.columns) FROM operator_sessions WHERE secret_hash = \(secret.hash) AND ended_at IS NULL"
        ).first.flatMap(Self.session)
    }

    /// Those of an operator that have not been ended, the one that was seen last first.
    func all(of name: String, after now: Date, on database: EventDatabase) async throws -> [OperatorSession] {
        try await database.client.query(
            """
            SELECT \(Self.columns) FROM operator_sessions
            WHERE operator = \(name) AND ended_at IS NULL AND expires_at > \(now) ORDER BY seen_at DESC, id DESC
            """
        ).compactMap(Self.session)
    }

    /// Takes note that somebody is at the page.
    func touch(_ id: UUID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE operator_sessions SET seen_at = \(transaction.now)
            WHERE id = \(id) AND ended_at IS NULL AND seen_at < \(transaction.now)
            """
        )
    }

    /// Ends one of an operator's.
    ///
    /// - Returns: Whether it was open.
    func end(
        _ id: UUID,
        of name: String,
        _ reason: OperatorSession.End,
        in transaction: EventTransaction
    ) async throws -> Bool {
        let ended = try await transaction.query(
            """
            UPDATE operator_sessions SET ended_at = \(transaction.now), end_reason = \(reason.rawValue)
            WHERE id = \(id) AND operator = \(name) AND ended_at IS NULL RETURNING id
            """
        )
        return !ended.isEmpty
    }

    /// Ends all of an operator's but the newest.
    func end(
        allOf name: String,
        butNewest kept: Int,
        _ reason: OperatorSession.End,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            UPDATE operator_sessions SET ended_at = \(transaction.now), end_reason = \(reason.rawValue)
            WHERE id IN (SELECT id FROM operator_sessions WHERE operator = \(name) AND ended_at IS NULL
                ORDER BY created_at DESC, id DESC OFFSET \(Int64(kept)))
            """
        )
    }

    /// Forgets those whose time was over before.
    func forget(before: Date, in transaction: EventTransaction) async throws {
        try await transaction.query("DELETE FROM operator_sessions WHERE expires_at < \(before)")
    }

    private static func session(_ row: PostgresRow) throws -> OperatorSession? {
        let (id, name, way, credential, createdAt, seenAt, expiresAt) = try row.decode(
            UUID.self,
            String.self,
            String.self,
            String.self,
            Date.self,
            Date.self,
            Date.self
        )
        return OperatorSession.Way(rawValue: way).map {
            OperatorSession(
                id: id,
                name: name,
                way: $0,
                credential: credential,
                createdAt: createdAt,
                seenAt: seenAt,
                expiresAt: expiresAt
            )
        }
    }
}
