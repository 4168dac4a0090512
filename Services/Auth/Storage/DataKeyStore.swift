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

    private static func select(_ user: UserID) -> SQL { "SELECT wrapped FROM data_keys WHERE user_id = \(user.uuid)" }

    private static func entry(_ row: PostgresRow) throws -> Entry {
        guard let text = try row.decode(String?.self) else { return .destroyed }
        return .wrapped(try WrappedKey(text: text))
    }
}
