import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

extension UserStore {
    /// Whether a user holds an identity, and whether an operator may free it; locked until the transaction ends.
    ///
    /// Nil when there is no such user. Who closed the profile holds nothing any more.
    func lockIdentity(
        _ id: UserID,
        in transaction: EventTransaction
    ) async throws -> (isHeld: Bool, mayBeFreed: Bool)? {
        let (frozen, rejected) = (Restriction.frozen.rawValue, VerificationStatus.rejected.rawValue)
        return try await transaction.query(
            """
            SELECT closed_at IS NULL AND num_nonnulls(identity_index, registration_index) > 0,
                restriction = \(frozen) OR verification_status = \(rejected)
            FROM users WHERE id = \(id.uuid) FOR UPDATE
            """
        ).first.map { row in
            let (isHeld, mayBeFreed) = try row.decode(Bool.self, Bool.self)
            return (isHeld: isHeld, mayBeFreed: mayBeFreed)
        }
    }

    /// Gives back what tells the user from all others.
    func releaseIdentity(_ id: UserID, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            UPDATE users SET identity_index = NULL, registration_index = NULL, updated_at = \(transaction.now)
            WHERE id = \(id.uuid)
            """
        )
    }

    /// Records what a user may do, unless something newer is known.
    ///
    /// - Returns: Whether it is the newest that is known.
    func setRestriction(_ event: Event<UserRestricted>, in transaction: EventTransaction) async throws -> Bool {
        let sequence = event.attributes.sequence
        let rows = try await transaction.query(
            """
            UPDATE users SET restriction = \(event.data.restriction.text), restriction_sequence = \(sequence)
            WHERE id = \(event.data.userID) AND restriction_sequence < \(sequence) RETURNING id
            """
        )
        return !rows.isEmpty
    }

    /// Whether a profile that is not closed is restricted; locked until the transaction ends.
    func isRestricted(_ id: UserID, in transaction: EventTransaction) async throws -> Bool {
        let none = Restriction.none.rawValue
        let rows = try await transaction.query(
            "SELECT restriction <> \(none) FROM users WHERE id = \(id.uuid) AND closed_at IS NULL FOR UPDATE"
        )
        return try rows.first?.decode(Bool.self) ?? false
    }

    /// Whether somebody has ever signed up so.
    func isKnown(_ id: UserID, in transaction: EventTransaction) async throws -> Bool {
        try await !transaction.query("SELECT 1 FROM users WHERE id = \(id.uuid)").isEmpty
    }
}

extension IdentityMarks {
    /// What a unique index refused; nil for any other error.
    func isInUse(by error: PostgresError) -> AuthError? {
        if error.isUniqueViolation("users_identity") { return .identityInUse(pointer: self.bvnPointer) }
        if error.isUniqueViolation("users_registration") { return .identityInUse(pointer: Self.registrationPointer) }
        return nil
    }
}
