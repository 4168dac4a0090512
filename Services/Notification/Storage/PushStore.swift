import Foundation
import Messaging
import Postgres
import Primitives

/// The table `push_tokens`, and the jobs that tell phones.
struct PushStore: Sendable {
    // MARK: Tokens

    /// Gives a token to a person, from whoever had it before.
    func register(
        _ token: PushToken,
        sealed: String,
        device: UUID?,
        session: String? = nil,
        of user: UserID,
        in transaction: EventTransaction
    ) async throws -> RegisteredToken {
        let id = try await transaction.query(
            """
            SELECT register_push_token(\(transaction.makeID()), \(user.uuid), \(sealed), \(token.hash), \(device),
                \(Int32(PushToken.perPerson)), \(transaction.now), \(session))
            """
        ).first?.decode(UUID.self)
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) AND id = \(id)"
        guard let row = try await transaction.query(sql).first else {
            throw NotificationError.pushTokenNotFound
        }
        return try Self.token(row)
    }

    /// A person's tokens, newest first.
    func tokens(of user: UserID, on database: EventDatabase) async throws -> [RegisteredToken] {
        let sql: SQL = "\(Self.columns) WHERE user_id = \(user.uuid) ORDER BY registered_at DESC, id"
        return try await database.client.query(sql, as: user.uuid).map(Self.token)
    }

    /// Removes one of a person's tokens; false when there is none.
    func remove(_ id: UUID, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let sql: SQL = "DELETE FROM push_tokens WHERE id = \(id) AND user_id = \(user.uuid) RETURNING id"
        return try await !transaction.query(sql).isEmpty
    }

    /// Removes a token that Apple does not know, unless it was registered again meanwhile.
    func remove(_ id: UUID, registeredUntil moment: Date, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM push_tokens WHERE id = \(id) AND registered_at <= \(moment)")
    }

    /// Removes the token of a device that was revoked.
    func remove(device: UUID, of user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM push_tokens WHERE user_id = \(user) AND device_id = \(device)")
    }

    /// Removes the tokens that came with a session that is over.
    func remove(session: String, of user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM push_tokens WHERE user_id = \(user) AND session_id = \(session)")
    }

    /// Removes all of a person's tokens.
    func removeAll(of user: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM push_tokens WHERE user_id = \(user)")
    }

    private static let columns: SQL = "SELECT id, device_id, registered_at FROM push_tokens"

    private static func token(_ row: PostgresRow) throws -> RegisteredToken {
        let (id, device, registeredAt) = try row.decode(UUID.self, UUID?.self, Date.self)
        return RegisteredToken(id: id, deviceID: device, registeredAt: registeredAt)
    }

    // MARK: Jobs

    /// Adds a job per phone of the person who was sent a message, if the person wants pushes about such.
    ///
    /// None when the message is not there, because it was there before under another id.
    func enqueue(_ notification: UUID, in transaction: EventTransaction) async throws {
        let cause = transaction.cause
        try await transaction.stage(
            """
            INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, causation_id, traceparent, created_at)
            SELECT gen_random_uuid(), \(NotificationJob.sendPush.rawValue), n.id::text || ':' || t.id::text, n.user_id,
                \(transaction.now), \(cause.correlationID), \(cause.causationID), \(cause.traceparent),
                \(transaction.now)
            FROM notifications n
            JOIN inboxes b ON b.user_id = n.user_id
            JOIN push_tokens t ON t.user_id = n.user_id
            WHERE n.id = \(notification) AND NOT n.category || '.push' = ANY (b.muted)
            ON CONFLICT (kind, key) DO NOTHING
            """
        )
    }

    /// What is to be pushed to a phone; nil when the message or the token is gone.
    func find(_ notification: UUID, for token: UUID, on database: EventDatabase) async throws -> PushDraft? {
        let sql: SQL = """
            SELECT n.user_id, n.category, n.kind, n.title, n.body, n.subject, n.created_at, b.unread, b.shows_amounts,
                t.token, t.registered_at
            FROM notifications n
            JOIN inboxes b ON b.user_id = n.user_id
            JOIN push_tokens t ON t.user_id = n.user_id AND t.id = \(token)
            WHERE n.id = \(notification)
            """
        return try await database.client.query(sql).first.map { row in
            let (user, category, kind, title, body, subject, createdAt, unread, showsAmounts, token, registeredAt) =
                try row.decode(
                    UUID.self,
                    String.self,
                    String.self,
                    String.self,
                    String.self,
                    String?.self,
                    Date.self,
                    Int64.self,
                    Bool.self,
                    String.self,
                    Date.self
                )
            return PushDraft(
                user: UserID(user),
                notificationID: notification,
                category: NoticeCategory(rawValue: category) ?? .account,
                kind: kind,
                title: title,
                body: body,
                subject: subject,
                createdAt: createdAt,
                unread: unread,
                showsAmounts: showsAmounts,
                token: token,
                registeredAt: registeredAt
            )
        }
    }
}
