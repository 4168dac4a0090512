import Contracts
import Foundation
import Messaging
import Primitives

/// Deletes a beneficiary.
///
/// The counterparty at the provider stays: it may be shared with another user.
struct RemoveBeneficiary: Sendable {
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore

    /// Deletes it and lets the oldest that is left follow a default.
    ///
    /// - Throws: `CustomerError.beneficiaryNotFound`.
    func callAsFunction(_ id: UUID, user: UserID, in transaction: EventTransaction) async throws {
        _ = try await self.users.lock(user, in: transaction)
        let all = try await self.beneficiaries.all(user, in: transaction)
        guard let removed = all.first(where: { $0.id == id }) else { throw CustomerError.beneficiaryNotFound }
        try await self.beneficiaries.delete(id, in: transaction)
        // Nobody has heard of one that was never verified.
        guard removed.status == .verified else { return }
        try await transaction.publish(BeneficiaryRemoved(userID: user.uuid, beneficiaryID: id), about: user)
        var book = BeneficiaryBook(all)
        guard book.remove(id) else { return }
        try await self.beneficiaries.setDefault(book.defaultID, of: user, in: transaction)
        try await transaction.publish(
            BeneficiaryDefaulted(userID: user.uuid, beneficiaryID: book.defaultID),
            about: user
        )
    }
}
