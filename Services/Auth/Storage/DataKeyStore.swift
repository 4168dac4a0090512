import Foundation
import Messaging
import Postgres
import Primitives
import Sealing

/// The table `data_keys`: keys under a master key.
struct DataKeyStore: Sendable {
    /// What is known of a user's key.
    enum Entry: Sendable {
        case wrapped(WrappedKey)
        case destroyed
    }

    /// Adds the key of a new user.
    func insert(_ key: WrappedKey, for user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO data_keys (user_id, wrapped, master_key_id, created_at)
            VALUES (\(user.uuid), \(key.text), \(key.masterKeyID), \(transaction.now))
            """
        )
    }

    /// The key of a user as the user's own requests see it.
    func find(_ user: UserID, in transaction: EventTransaction) async throws -> Entry? {
        try await transaction.query(Self.select(user)).first.map(Self.entry)
    }

    /// The key of a user, outside a transaction.
    ///
    /// `reader` is the user whose request asks; nil on the worker's connections, which see every row.
    func find(_ user: UserID, as reader: UserID?, on database: EventDatabase) async throws -> Entry? {
        try await database.client.query(Self.select(user), as: reader?.uuid).first.map(Self.entry)
    }

    /// Destroys the key of a user for ever.
    func destroy(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE data_keys SET wrapped = NULL, destroyed_at = \(transaction.now)
            WHERE user_id = \(user.uuid) AND destroyed_at IS NULL
            """
        )
    }

    // MARK: Rotation

    /// Keys that one of these master keys has wrapped, locked; those that others rewrap at this moment are left out.
    func wrapped(
        by masterKeys: [String],
        limit: Int,
        in transaction: EventTransaction
    ) async throws -> [(user: UserID, key: WrappedKey)] {
        try await transaction.query(
            """
            SELECT user_id, wrapped FROM data_keys
            WHERE master_key_id = ANY (\(masterKeys)) AND wrapped IS NOT NULL
            ORDER BY master_key_id, user_id LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
            """
        ).map { row in
            let (user, text) = try row.decode(UUID.self, String.self)
            return (UserID(user), try WrappedKey(text: text))
        }
    }

    /// Stores keys under another master key.
    func replace(_ keys: [(user: UserID, key: WrappedKey)], in transaction: EventTransaction) async throws {
        guard !keys.isEmpty else { return }
        try await transaction.query(
            """
            UPDATE data_keys d SET wrapped = x.wrapped, master_key_id = x.master_key_id
            FROM unnest(\(keys.map(\.user.uuid)), \(keys.map(\.key.text)), \(keys.map(\.key.masterKeyID)))
                AS x(user_id, wrapped, master_key_id)
            WHERE d.user_id = x.user_id AND d.wrapped IS NOT NULL
            """
        )
    }

    /// How many keys are under each master key.
    func counts(on database: EventDatabase) async throws -> [String: Int64] {
        let rows = try await database.client.query(
            "SELECT master_key_id, count(*) FROM data_keys WHERE wrapped IS NOT NULL GROUP BY 1"
        )
        return Dictionary(uniqueKeysWithValues: try rows.map { try $0.decode(String.self, Int64.self) })
    }

    private static func select(_ user: UserID) -> SQL { "SELECT wrapped FROM data_keys WHERE user_id = \(user.uuid)" }

    private static func entry(_ row: PostgresRow) throws -> Entry {
        guard let text = try row.decode(String?.self) else { return .destroyed }
        return .wrapped(try WrappedKey(text: text))
    }
}
