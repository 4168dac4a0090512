import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `notifications`, `inboxes` and `users`.
struct InboxStore: Sendable {
    // MARK: Writing

    /// Puts a message about an event where its person wants it, once; an erased user gets none.
    ///
    /// The person's inbox is locked until the transaction ends.
    ///
    /// - Returns: The id of the message, if it was not there before.
    func add(_ notice: Notice, about eventID: UUID, in transaction: EventTransaction) async throws -> UUID {
        let id = transaction.makeID()
        try await transaction.stage(
            """
            SELECT file_notification(\(id), \(notice.user.uuid), \(notice.kind.category.rawValue),
                \(notice.kind.rawValue), \(notice.kind.title), \(notice.body), \(notice.subject), \(eventID),
                \(transaction.now))
            """
        )
        return id
    }

    /// Marks a message of the user read; once more changes nothing.
    func markRead(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> InboxEntry? {
        let found = try await transaction.query("SELECT read_notification(\(user.uuid), \(id), \(transaction.now))")
        guard try found.first?.decode(Bool.self) == true else { return nil }
        return try await transaction.query("\(Self.columns) WHERE n.user_id = \(user.uuid) AND n.id = \(id)").first
            .map(Self.entry)
    }

    /// Marks everything read, or everything up to a message; once more changes nothing.
    ///
    /// - Returns: How many are unread then; nil when the user has no such message.
    func markAllRead(upTo id: UUID?, of user: UserID, in transaction: EventTransaction) async throws -> Int64? {
        var position: Int64?
        if let id {
            let sql: SQL = """
                SELECT position FROM notifications
                WHERE user_id = \(user.uuid) AND id = \(id) AND position IS NOT NULL
                """
            guard let found = try await transaction.query(sql).first?.decode(Int64.self) else { return nil }
            position = found
        }
        return try await transaction.query("SELECT read_notifications(\(user.uuid), \(position))").first?
            .decode(Int64.self)
    }

    /// Deletes some of the messages made before a moment.
    ///
    /// - Returns: How many.
    func forget(before moment: Date, limit: Int, in transaction: EventTransaction) async throws -> Int64 {
        let sql: SQL = "SELECT forget_notifications(\(Self.smallestID(at: moment)), \(Int32(limit)))"
        return try await transaction.query(sql).first?.decode(Int64.self) ?? 0
    }

    /// The smallest UUIDv7 of a moment: ids are looked up by it instead of an index on the time.
    private static func smallestID(at moment: Date) -> UUID {
        let milliseconds = UInt64(max(0, moment.timeIntervalSince1970 * 1000))
        let bytes = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
        return UUID(
            uuid: (bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], 0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0)
        )
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
        let user = event.data.userID
        try await transaction.stage(
            """
            INSERT INTO users (id, auth_sequence, erased_at)
            VALUES (\(user), \(event.attributes.sequence), \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET username = NULL, erased_at = excluded.erased_at,
                auth_sequence = excluded.auth_sequence
            WHERE users.auth_sequence < excluded.auth_sequence
            """
        )
        try await transaction.stage("DELETE FROM inboxes WHERE user_id = \(user)")
        try await transaction.stage("DELETE FROM notifications WHERE user_id = \(user)")
    }

    // MARK: Reading

    /// How the inbox stands.
    func state(_ user: UserID, on database: EventDatabase) async throws -> InboxState {
        let sql: SQL = "SELECT last_position, unread, revision FROM inboxes WHERE user_id = \(user.uuid)"
        guard let row = try await database.client.query(sql, as: user.uuid).first else { return InboxState() }
        let (last, unread, revision) = try row.decode(Int64.self, Int64.self, Int64.self)
        return InboxState(lastPosition: last, unread: unread, revision: revision)
    }

    /// A page of the inbox, newest first, and one more row if there is another page.
    func page(_ user: UserID, before: Int64?, limit: Int, on database: EventDatabase) async throws -> [InboxEntry] {
        let sql: SQL = """
            \(Self.columns) WHERE n.user_id = \(user.uuid) AND n.position < \(before ?? Int64.max)
            ORDER BY n.position DESC LIMIT \(Int64(limit) + 1)
            """
        return try await database.client.query(sql, as: user.uuid).map(Self.entry)
    }

    /// What came after a position, oldest first.
    func news(_ user: UserID, after: Int64, limit: Int, on database: EventDatabase) async throws -> [InboxEntry] {
        let sql: SQL = """
            \(Self.columns) WHERE n.user_id = \(user.uuid) AND n.position > \(after)
            ORDER BY n.position LIMIT \(Int64(limit))
            """
        return try await database.client.query(sql, as: user.uuid).map(Self.entry)
    }

    private static let columns: SQL = """
        SELECT n.id, n.position, n.category, n.kind, n.title, n.body, n.subject,
            n.read_at IS NOT NULL OR n.position <= b.read_up_to, n.created_at
        FROM notifications n JOIN inboxes b ON b.user_id = n.user_id
        """

    private static func entry(_ row: PostgresRow) throws -> InboxEntry {
        let (id, position, category, kind, title, body, subject, isRead, createdAt) = try row.decode(
            UUID.self,
            Int64.self,
            String.self,
            String.self,
            String.self,
            String.self,
            String?.self,
            Bool.self,
            Date.self
        )
        return InboxEntry(
            id: id,
            position: position,
            category: category,
            kind: kind,
            title: title,
            body: body,
            subject: subject,
            isRead: isRead,
            createdAt: createdAt
        )
    }
}
