import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `notifications` and `users`.
struct InboxStore: Sendable {
    /// How far the unread are counted.
    static let unreadLimit: Int64 = 1000

    // MARK: Writing

    /// Puts messages about an event into their inboxes, once each; an erased user gets none.
    func add(_ notices: [Notice], about event: EventAttributes, in transaction: EventTransaction) async throws {
        for notice in notices {
            try await transaction.stage(
                """
                INSERT INTO notifications (id, user_id, kind, title, body, subject, event_id, created_at)
                SELECT \(transaction.makeID()), \(notice.user.uuid), \(notice.kind), \(notice.title), \(notice.body),
                    \(notice.subject), \(event.id), \(transaction.now)
                WHERE NOT EXISTS (SELECT FROM users WHERE id = \(notice.user.uuid) AND erased_at IS NOT NULL)
                ON CONFLICT (event_id, user_id, kind) DO NOTHING
                """
            )
        }
    }

    /// Marks a message of the user read; once more changes nothing.
    func markRead(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> InboxEntry? {
        try await transaction.query(
            """
            UPDATE notifications SET read_at = coalesce(read_at, \(transaction.now))
            WHERE id = \(id) AND user_id = \(user.uuid)
            RETURNING id, kind, title, body, subject, read_at IS NOT NULL, created_at
            """
        ).first.map(Self.entry)
    }

    // MARK: What events say

    /// Somebody signed up.
    func record(_ event: Event<UserCreated>, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO users (id, username, auth_sequence)
            VALUES (\(event.data.userID), \(event.data.username), \(event.attributes.sequence))
            ON CONFLICT (id) DO UPDATE SET username = excluded.username, auth_sequence = excluded.auth_sequence
            WHERE users.auth_sequence < excluded.auth_sequence
            """
        )
    }

    /// A user is erased: nothing about the user is kept.
    func record(_ event: Event<UserErased>, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO users (id, auth_sequence, erased_at)
            VALUES (\(event.data.userID), \(event.attributes.sequence), \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET username = NULL, erased_at = excluded.erased_at,
                auth_sequence = excluded.auth_sequence
            WHERE users.auth_sequence < excluded.auth_sequence
            """
        )
        try await transaction.stage("DELETE FROM notifications WHERE user_id = \(event.data.userID)")
    }

    // MARK: Reading

    /// A page of the inbox, newest first, and one more row if there is another page.
    func page(_ user: UserID, before: UUID?, limit: Int, on database: EventDatabase) async throws -> [InboxEntry] {
        let from: SQL = before.map { "AND id < \($0)" } ?? ""
        let sql: SQL = """
            SELECT id, kind, title, body, subject, read_at IS NOT NULL, created_at FROM notifications
            WHERE user_id = \(user.uuid) \(from) ORDER BY id DESC LIMIT \(Int64(limit) + 1)
            """
        return try await database.client.query(sql, as: user.uuid).map(Self.entry)
    }

    /// How many are unread, counted up to a limit.
    func unread(_ user: UserID, on database: EventDatabase) async throws -> Int {
        let sql: SQL = """
            SELECT count(*) FROM (
                SELECT FROM notifications WHERE user_id = \(user.uuid) AND read_at IS NULL LIMIT \(Self.unreadLimit)
            ) AS found
            """
        return try await database.client.query(sql, as: user.uuid).first?.decode(Int.self) ?? 0
    }

    private static func entry(_ row: PostgresRow) throws -> InboxEntry {
        let (id, kind, title, body, subject, isRead, createdAt) = try row.decode(
            UUID.self,
            String.self,
            String.self,
            String.self,
            String?.self,
            Bool.self,
            Date.self
        )
        return InboxEntry(
            id: id,
            kind: kind,
            title: title,
            body: body,
            subject: subject,
            isRead: isRead,
            createdAt: createdAt
        )
    }
}
