import Messaging
import Postgres
import Primitives

/// What people want to hear: columns of `inboxes`.
struct PreferenceStore: Sendable {
    /// A person's wishes.
    func find(_ user: UserID, on database: EventDatabase) async throws -> NotificationPreferences {
        let sql = Self.columns(user)
        return try await database.client.query(sql, as: user.uuid).first.map(Self.preferences)
            ?? NotificationPreferences()
    }

    /// A person's wishes, which nobody else changes until the transaction ends.
    func lock(_ user: UserID, in transaction: EventTransaction) async throws -> NotificationPreferences {
        try await transaction.stage(
            "INSERT INTO inboxes (user_id) VALUES (\(user.uuid)) ON CONFLICT (user_id) DO NOTHING"
        )
        return try await transaction.query("\(Self.columns(user)) FOR NO KEY UPDATE").first.map(Self.preferences)
            ?? NotificationPreferences()
    }

    /// Writes a person's wishes.
    func save(_ wishes: NotificationPreferences, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE inboxes SET muted = \(wishes.muted.map(\.text).sorted()), shows_amounts = \(wishes.showsAmounts)
            WHERE user_id = \(user.uuid)
            """
        )
    }

    private static func columns(_ user: UserID) -> SQL {
        "SELECT muted, shows_amounts FROM inboxes WHERE user_id = \(user.uuid)"
    }

    private static func preferences(_ row: PostgresRow) throws -> NotificationPreferences {
        let (muted, showsAmounts) = try row.decode([String].self, Bool.self)
        return NotificationPreferences(
            muted: Set(muted.compactMap { NotificationPreferences.Choice(text: $0) }),
            showsAmounts: showsAmounts
        )
    }
}

extension NotificationPreferences.Choice {
    /// Reads what the table has.
    fileprivate init?(text: String) {
        let parts = text.split(separator: ".")
        guard parts.count == 2, let category = NoticeCategory(rawValue: String(parts[0])),
            let channel = NoticeChannel(rawValue: String(parts[1]))
        else { return nil }
        self.init(category: category, channel: channel)
    }
}
