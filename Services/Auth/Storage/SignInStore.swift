import Foundation
import Messaging
import Postgres
import Primitives

/// The table `sign_ins`.
struct SignInStore: Sendable {
    /// What is known of the sign-in of a user; nothing of one that nobody has told of.
    func find(_ user: UserID, in transaction: EventTransaction) async throws -> SignIn {
        let rows = try await transaction.query(
            "SELECT told || claimed, deleted_at IS NOT NULL FROM sign_ins WHERE user_id = \(user.uuid)"
        )
        guard let row = rows.first else { return SignIn() }
        let (verified, isDeleted) = try row.decode([String].self, Bool.self)
        return SignIn(verified: Set(verified), isDeleted: isDeleted)
    }

    /// Notes what a token says, unless something newer is known.
    func note(
        _ marks: [String],
        claimedAt moment: Date,
        subject: String,
        user: UserID,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            INSERT INTO sign_ins AS s (subject, user_id, claimed, claimed_at)
            VALUES (\(subject), \(user.uuid), \(marks), \(Self.milliseconds(moment)))
            ON CONFLICT (subject) DO UPDATE SET claimed = excluded.claimed, claimed_at = excluded.claimed_at
            WHERE s.deleted_at IS NULL AND excluded.claimed_at > greatest(s.told_at, s.claimed_at)
            """
        )
    }

    /// Notes what a message says, unless something newer is known.
    ///
    /// - Returns: Whether it is news.
    func tell(
        _ marks: [String],
        changedAt milliseconds: Int64,
        subject: String,
        user: UserID,
        in transaction: EventTransaction
    ) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO sign_ins AS s (subject, user_id, told, told_at)
            VALUES (\(subject), \(user.uuid), \(marks), \(milliseconds))
            ON CONFLICT (subject) DO UPDATE SET told = excluded.told, told_at = excluded.told_at,
                claimed = CASE WHEN s.claimed_at > excluded.told_at THEN s.claimed ELSE '{}' END
            WHERE s.deleted_at IS NULL AND s.told_at < excluded.told_at
            RETURNING s.subject
            """
        )
        return !rows.isEmpty
    }

    /// Leaves a tombstone; false when there was one.
    func bury(subject: String, user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO sign_ins AS s (subject, user_id, deleted_at)
            VALUES (\(subject), \(user.uuid), \(transaction.now))
            ON CONFLICT (subject) DO UPDATE SET deleted_at = excluded.deleted_at WHERE s.deleted_at IS NULL
            RETURNING s.subject
            """
        )
        return !rows.isEmpty
    }

    /// Forgets what was verified; a tombstone stays.
    func forget(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            "UPDATE sign_ins SET told = '{}', claimed = '{}' WHERE user_id = \(user.uuid)"
        )
    }

    private static func milliseconds(_ moment: Date) -> Int64 {
        guard moment > .distantPast else { return 0 }
        return Int64(moment.timeIntervalSince1970 * 1000)
    }
}
