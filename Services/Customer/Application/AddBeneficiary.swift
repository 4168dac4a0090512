import Contracts
import Foundation
import Messaging
import Primitives
import Sealing

/// Adds a bank account that the bank is yet to confirm, and asks for that.
struct AddBeneficiary: Sendable {
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore
    let index: BlindIndex

    /// Adds it.
    ///
    /// `key` is the user's data key, fetched before the transaction began.
    /// - Throws: `CustomerError.notOnboarded`, `tooManyBeneficiaries`, `planNeeded`, `beneficiaryExists`.
    func callAsFunction(
        _ account: BankAccount,
        user: UserID,
        key: DataKey,
        in transaction: EventTransaction
    ) async throws -> Beneficiary {
        guard let owner = try await self.users.lock(user, in: transaction), !owner.isErased else {
            throw CustomerError.notOnboarded
        }
        let known = try await self.beneficiaries.all(user, in: transaction)
        let beneficiary = Beneficiary(
            id: transaction.makeID(),
            user: user,
            accountNumber: try key.seal(account.number, field: Beneficiary.numberField, of: user),
            bankCode: account.bankCode,
            status: .pending,
            isDefault: false,
            createdAt: transaction.now
        )
        let numberIndex = self.index.index(Beneficiary.numberField, account.indexText)
        // First, so that an account that was added before is told from one too many.
        try await self.beneficiaries.insert(beneficiary, numberIndex: numberIndex, in: transaction)
        let hasPlan = owner.hasPlan(at: transaction.now)
        guard known.count(where: { $0.status != .rejected }) < Beneficiary.limit(hasPlan: hasPlan) else {
            throw hasPlan ? CustomerError.tooManyBeneficiaries : CustomerError.planNeeded
        }
        try await transaction.enqueue(
            CustomerJob.verifyBeneficiary,
            key: beneficiary.id.lowercased,
            subject: user.description
        )
        return beneficiary
    }
}
