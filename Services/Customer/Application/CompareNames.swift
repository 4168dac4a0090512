import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Job: compares the holders of a user's bank accounts with the user's name anew.
///
/// Details can be corrected until they are verified: an account that was in the name given first may be in the name of
/// nobody whom the provider then identifies.
struct CompareNames: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let beneficiaries: BeneficiaryStore
    let keys: any DataKeys
    let nameLengths: NameLengths

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let id = UserID(text: job.key), let user = try await self.users.find(id, as: nil, on: self.database)
        else { return .cancelled(reason: "unknown_user") }
        let details = try await OpenDetails(keys: self.keys)(user)
        guard let key = try await self.keys.key(for: id) else { throw CustomerError.erased }
        let remove = RemoveBeneficiary(users: self.users, beneficiaries: self.beneficiaries)
        return try await self.database.transaction(cause: job.cause) { transaction in
            // The event that brought newer details found this job running: it has to compare with them itself.
            guard try await self.users.lock(id, in: transaction)?.authSequence == user.authSequence else {
                return .again(reason: "details_changed", after: .zero)
            }
            for var beneficiary in try await self.beneficiaries.all(id, in: transaction) {
                guard let name = beneficiary.accountName else { continue }
                let holder = try key.text(in: name, field: Beneficiary.nameField, of: id)
                let lengths = self.nameLengths[beneficiary.bankCode]
                switch beneficiary.status {
                case .review, .pending:
                    // People look, or have looked, at a name that is no longer the user's: all begins anew.
                    beneficiary.isNameAccepted = false
                    try await self.beneficiaries.askAgain(beneficiary, in: transaction)
                // Whom people accepted they accepted under another name: who adds the account again is looked at again.
                case .verified where HolderName(holder, cutAt: lengths).match(details) < .same:
                    try await remove(beneficiary.id, user: id, in: transaction)
                case .verified, .rejected: continue
                }
            }
            try await job.finish(in: transaction)
            return .done
        }
    }
}
