import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `devices`, known from auth, and `approval_nonces`.
struct ApprovalStore: Sendable {
    /// A device can approve; one that was revoked before stays so.
    func register(_ device: UUID, of user: UserID, key: [UInt8], in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO devices AS d (id, user_id, public_key) VALUES (\(device), \(user.uuid), \(key))
            ON CONFLICT (id) DO UPDATE SET public_key = excluded.public_key WHERE d.user_id = excluded.user_id
            """
        )
    }

    /// A device can no longer approve.
    func revoke(_ device: UUID, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO devices (id, user_id, revoked_at) VALUES (\(device), \(user.uuid), \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET revoked_at = excluded.revoked_at
            """
        )
    }

    /// Uses an approval up; false when it was before.
    func spend(_ nonce: UUID, of user: UserID, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO approval_nonces (user_id, nonce, used_at) VALUES (\(user.uuid), \(nonce), \(transaction.now))
            ON CONFLICT DO NOTHING RETURNING nonce
            """
        )
        return !rows.isEmpty
    }

    /// Forgets nonces after a day; an approval lives two minutes.
    func prune(in transaction: EventTransaction) async throws {
        let limit = transaction.now.addingTimeInterval(-86_400)
        try await transaction.stage("DELETE FROM approval_nonces WHERE used_at < \(limit)")
    }
}
