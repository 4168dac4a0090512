import Foundation
import Messaging
import Primitives

/// Carries out what an operator decides about a bank account whose holder may be the user or not.
struct DecideBeneficiary: Sendable {
    /// What people find.
    enum Decision: String, CaseIterable, Sendable {
        /// The holder is the user.
        case accept
        /// The holder is somebody else.
        case reject
    }

    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore

    /// Accepts the name, so that the account is registered at the provider, or rejects it.
    ///
    /// The bank is asked once more: what was accepted is this name and no other.
    /// - Throws: `CustomerError.beneficiaryNotFound`, `beneficiaryNotInReview`.
    func callAsFunction(
        _ id: UUID,
        _ decision: Decision,
        by order: OperatorOrder,
        in transaction: EventTransaction
    ) async throws {
        guard let user = try await self.beneficiaries.owner(of: id, in: transaction) else {
            throw CustomerError.beneficiaryNotFound
        }
        _ = try await self.users.lock(user, in: transaction)
        guard var found = try await self.beneficiaries.all(user, in: transaction).first(where: { $0.id == id }) else {
            throw CustomerError.beneficiaryNotFound
        }
        guard found.status == .review else { throw CustomerError.beneficiaryNotInReview }
        switch decision {
        case .accept:
            found.isNameAccepted = true
            try await self.beneficiaries.askAgain(found, in: transaction)
        case .reject:
            found.status = .rejected
            found.rejectReason = .nameMismatch
            try await self.beneficiaries.saveAnswer(found, in: transaction)
        }
        try await transaction.record(
            "beneficiary.name_decided",
            on: user,
            before: ["beneficiary": id.lowercased, "status": BeneficiaryStatus.review.rawValue],
            after: ["beneficiary": id.lowercased, "decision": decision.rawValue],
            by: order
        )
    }
}
