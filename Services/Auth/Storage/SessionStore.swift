import Foundation
import Messaging
import Postgres
import Primitives

/// The table `ended_sessions`, and how far the events about a user have got.
struct SessionStore: Sendable {
    /// How long an ended session is remembered; its last token is gone long before.
    static let memory = TimeInterval(24 * 60 * 60)

    /// Notes that a session is over; false when it was noted before.
    func end(_ session: String, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO ended_sessions (user_id, session_id, ended_at)
            VALUES (\(user.uuid), \(session), \(transaction.now)) ON CONFLICT DO NOTHING RETURNING session_id
            """
        )
        return !rows.isEmpty
    }

    /// Forgets sessions that have been over for long.
    func prune(in transaction: EventTransaction) async throws {
        let oldest = transaction.now.addingTimeInterval(-Self.memory)
        try await transaction.stage("DELETE FROM ended_sessions WHERE ended_at < \(oldest)")
    }

    /// Whether a session is over.
    func hasEnded(_ session: String, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            "SELECT 1 FROM ended_sessions WHERE user_id = \(user.uuid) AND session_id = \(session)"
        )
        return !rows.isEmpty
    }

    /// The sequence of the newest event that was published about a user; 0 when there was none.
    func newestEvent(about user: UserID, in transaction: EventTransaction) async throws -> Int64 {
        try await transaction.query(
            "SELECT sequence FROM event_sequences WHERE subject = \(user.uuid.lowercased)"
        ).first?.decode(Int64.self) ?? 0
    }
}
