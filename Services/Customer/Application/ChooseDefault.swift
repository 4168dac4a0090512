import Contracts
import Foundation
import Messaging
import Primitives

/// Makes a verified beneficiary the one that payments go to.
struct ChooseDefault: Sendable {
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore

    /// Chooses it; once more changes nothing.
    ///
    /// - Throws: `CustomerError.beneficiaryNotFound`, `beneficiaryNotVerified`.
    func callAsFunction(_ id: UUID, user: UserID, in transaction: EventTransaction) async throws -> Beneficiary {
        _ = try await self.users.lock(user, in: transaction)
        let all = try await self.beneficiaries.all(user, in: transaction)
        guard var chosen = all.first(where: { $0.id == id }) else { throw CustomerError.beneficiaryNotFound }
        var book = BeneficiaryBook(all)
        guard let isChange = book.choose(id) else { throw CustomerError.beneficiaryNotVerified }
        chosen.isDefault = true
        guard isChange else { return chosen }
        try await self.beneficiaries.setDefault(id, of: user, in: transaction)
        try await transaction.publish(BeneficiaryDefaulted(userID: user.uuid, beneficiaryID: id), about: user)
        return chosen
    }
}
