import Contracts
import Foundation
import Messaging
import ObjectStorage
import Postgres
import Primitives

/// The public part of `users`: read past row level security, and only what anybody may know.
struct ProfileStore: Sendable {
    /// As worker.
    let database: EventDatabase

    /// Those whom anybody may see; the same words as in the index `users_public`.
    private static let visible: SQL = "username IS NOT NULL AND erased_at IS NULL AND restriction <> 'closed'"
    private static let columns: SQL = "SELECT id, username, account_type, image_key FROM users"

    /// The profile with a name; nil also when its owner has blocked the reader.
    ///
    /// Without a reader nobody is blocked.
    func find(_ name: Username, for reader: UserID? = nil) async throws -> Profile? {
        let sql: SQL = """
            \(Self.columns) WHERE username = \(name.text) AND \(Self.visible) AND \(Self.isOpen(to: reader))
            ORDER BY id LIMIT 1
            """
        return try await self.database.client.query(sql).first.map(Self.profile)
    }

    /// Not blocked by the profile's owner.
    private static func isOpen(to reader: UserID?) -> SQL {
        """
        NOT EXISTS (SELECT FROM blocks b WHERE b.user_id = users.id AND b.blocked_id = \(reader?.uuid))
        """
    }

    /// The names of people, but for those who are gone.
    func names(of users: [UUID]) async throws -> [UUID: String] {
        guard !users.isEmpty else { return [:] }
        let rows = try await self.database.client.query(
            "SELECT id, username FROM users WHERE id = ANY (\(users)) AND \(Self.visible)"
        )
        return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode(UUID.self, String.self) })
    }

    /// The first profiles in the order of names that begin so, but for one's own.
    func search(_ beginning: Username, for reader: UserID, limit: Int) async throws -> [Profile] {
        // Names are letters and digits, which all come before the tilde: an index range, whatever is searched for.
        let sql: SQL = """
            \(Self.columns) WHERE username >= \(beginning.text) AND username < \(beginning.text + "~")
                AND \(Self.visible) AND id <> \(reader.uuid) AND \(Self.isOpen(to: reader))
            ORDER BY username LIMIT \(Int64(limit))
            """
        return try await self.database.client.query(sql).map(Self.profile)
    }

    private static func profile(_ row: PostgresRow) throws -> Profile {
        let (id, username, type, image) = try row.decode(UUID.self, String.self, String?.self, String?.self)
        return Profile(
            id: UserID(id),
            username: username,
            accountType: Open(type ?? AccountType.personal.rawValue),
            image: image.flatMap { ImageKey(reading: $0) }
        )
    }
}
