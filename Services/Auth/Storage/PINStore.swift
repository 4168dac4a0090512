import Foundation
import Messaging
import Postgres
import Primitives

/// The table `pins`.
///
/// A PIN that is removed takes its `pin_tries` with it. One that is replaced leaves those that were right, since the
/// request that replaced it may come again; the others are tried anew.
struct PINStore: Sendable {
    /// A PIN's hash and its lock.
    struct Stored: Sendable {
        let hash: String
        var lock: PINLock
    }

    /// Whether the user has a PIN.
    func exists(_ user: UserID, on database: EventDatabase) async throws -> Bool {
        try await !database.client.query("SELECT 1 FROM pins WHERE user_id = \(user.uuid)", as: user.uuid).isEmpty
    }

    /// Sets the first PIN; false when there is one already.
    func insert(_ hash: String, for user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO pins (user_id, hash, updated_at) VALUES (\(user.uuid), \(hash), \(transaction.now))
            ON CONFLICT (user_id) DO NOTHING RETURNING user_id
            """
        )
        return !rows.isEmpty
    }

    /// The PIN, locked until the transaction ends; nil when there is none.
    func lock(_ user: UserID, in transaction: EventTransaction) async throws -> Stored? {
        let rows = try await transaction.query(
            "SELECT hash, failed_attempts, lockouts, locked_until FROM pins WHERE user_id = \(user.uuid) FOR UPDATE"
        )
        return try rows.first.map { row in
            let (hash, failed, lockouts, until) = try row.decode(String.self, Int32.self, Int32.self, Date?.self)
            let lock = PINLock(failedAttempts: Int(failed), lockouts: Int(lockouts), lockedUntil: until)
            return Stored(hash: hash, lock: lock)
        }
    }

    /// Writes the count of attempts.
    func save(_ lock: PINLock, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE pins SET failed_attempts = \(Int32(lock.failedAttempts)), lockouts = \(Int32(lock.lockouts)),
                locked_until = \(lock.lockedUntil), updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid)
            """
        )
    }

    /// Replaces one hash by another; false when somebody was faster.
    func replace(
        _ old: String,
        by new: String,
        of user: UserID,
        in transaction: EventTransaction
    ) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE pins SET hash = \(new), updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid) AND hash = \(old) RETURNING user_id
            """
        )
        try await self.forgetTries(of: user, in: transaction)
        return !rows.isEmpty
    }

    /// Replaces whatever PIN there is and forgets wrong attempts; false when there is none.
    func reset(_ hash: String, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE pins SET hash = \(hash), failed_attempts = 0, lockouts = 0, locked_until = NULL,
                updated_at = \(transaction.now)
            WHERE user_id = \(user.uuid) RETURNING user_id
            """
        )
        try await self.forgetTries(of: user, in: transaction)
        return !rows.isEmpty
    }

    private func forgetTries(of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            "DELETE FROM pin_tries WHERE user_id = \(user.uuid) AND outcome IS DISTINCT FROM 'right'"
        )
    }

    /// Removes the PIN.
    func delete(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query("DELETE FROM pins WHERE user_id = \(user.uuid)")
    }
}
