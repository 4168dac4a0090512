import Foundation
import Messaging
import Postgres
import Primitives

/// What is known of a user whom operators want erased.
struct ErasureState: Sendable {
    /// When transaction last said that no money is left.
    let clearedAt: Date?
    /// Who has proposed it last, and when.
    let proposedBy: String?
    let proposedAt: Date?
}

extension UserStore {
    /// What is known of a user who is not erased; locked until the transaction ends.
    func erasureState(_ id: UserID, in transaction: EventTransaction) async throws -> ErasureState? {
        let rows = try await transaction.query(
            """
            SELECT erasure_cleared_at, erasure_proposed_by, erasure_proposed_at
            FROM users WHERE id = \(id.uuid) AND erased_at IS NULL FOR UPDATE
            """
        )
        guard let row = rows.first else { return nil }
        let (cleared, proposer, proposed) = try row.decode(Date?.self, String?.self, Date?.self)
        return ErasureState(clearedAt: cleared, proposedBy: proposer, proposedAt: proposed)
    }

    /// Writes down who wants a user erased, and that transaction is asked.
    func proposeErasure(of id: UserID, by name: String, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE users SET erasure_proposed_by = \(name), erasure_proposed_at = \(transaction.now),
                erasure_asked_at = \(transaction.now)
            WHERE id = \(id.uuid)
            """
        )
    }

    /// Writes down that no money is left.
    func noteCleared(_ id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            "UPDATE users SET erasure_cleared_at = \(transaction.now) WHERE id = \(id.uuid) AND erased_at IS NULL"
        )
    }
}
