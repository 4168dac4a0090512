import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `user_marks` and `barred_marks`: who somebody is, and who may not come back.
struct MarkStore: Sendable {
    /// What a user has written at sign-up, as keyed hashes.
    struct Marks: Hashable, Sendable {
        /// Nil until an address is given.
        var email: String?
        /// Whether Clerk has verified that address.
        var isEmailProven: Bool
        /// Of everything that identifies the person or the business.
        var person: String?
    }

    /// Replaces the marks of a user.
    func set(_ marks: Marks, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO user_marks (user_id, email, is_email_proven, person)
            VALUES (\(user.uuid), \(marks.email), \(marks.isEmailProven), \(marks.person))
            ON CONFLICT (user_id) DO UPDATE SET email = excluded.email, is_email_proven = excluded.is_email_proven,
                person = excluded.person
            """
        )
    }

    /// Notes that the address of a user is one of these, which are verified.
    ///
    /// - Returns: False when it is none of them, or that was known.
    func prove(_ verified: Set<String>, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            UPDATE user_marks SET is_email_proven = true
            WHERE user_id = \(user.uuid) AND NOT is_email_proven AND email = ANY (\(verified.sorted()))
            RETURNING user_id
            """
        )
        return !rows.isEmpty
    }

    /// Nobody comes back as this user: the account was somebody else's, or nothing of it is to be kept.
    func forget(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query("DELETE FROM user_marks WHERE user_id = \(user.uuid)")
    }

    // MARK: Coming back

    /// Whose profile somebody had who comes back with these.
    func formerSelf(
        _ person: String?,
        verified: Set<String>,
        in transaction: EventTransaction
    ) async throws -> UserID? {
        guard let person, !verified.isEmpty else { return nil }
        let rows = try await transaction.query("SELECT former_self(\(person), \(verified.sorted()))")
        return try rows.first?.decode(UUID?.self).map { UserID($0) }
    }

    /// Whether one of these marks is of somebody who may not come back.
    func isBarred(_ marks: some Collection<String>, in transaction: EventTransaction) async throws -> Bool {
        guard !marks.isEmpty else { return false }
        return try await transaction.query("SELECT is_barred(\(marks.sorted()))").first?.decode(Bool.self) ?? false
    }

    /// Bars everything that tells a user from all others; once more changes nothing.
    func bar(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO barred_marks (mark, user_id, barred_at)
            SELECT x.mark, u.id, \(transaction.now)
            FROM users u LEFT JOIN sign_ins s ON s.user_id = u.id,
                unnest(ARRAY[u.identity_index, u.registration_index] || coalesce(s.told || s.claimed, '{}')) AS x(mark)
            WHERE u.id = \(user.uuid) AND x.mark IS NOT NULL
            ON CONFLICT (mark, user_id) DO NOTHING
            """
        )
    }

    /// Lifts the bar of a user.
    ///
    /// - Returns: Whether there was one.
    func unbar(_ user: UserID, in transaction: EventTransaction) async throws -> Bool {
        try await !transaction.query("DELETE FROM barred_marks WHERE user_id = \(user.uuid) RETURNING mark").isEmpty
    }
}
