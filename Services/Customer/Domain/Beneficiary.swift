import Contracts
import Foundation
import Primitives

/// A bank account of a user as stored; number and name sealed.
struct Beneficiary: Sendable {
    let id: UUID
    let user: UserID
    let accountNumber: Sealed
    var accountName: Sealed?
    let bankCode: String
    var bankName: String?
    var status: BeneficiaryStatus
    var rejectReason: RejectReason?
    var anchorCounterpartyID: String?
    var isDefault: Bool
    let createdAt: Date
    var deletedAt: Date?

    /// How many a user may have, pending or verified, when another is added.
    ///
    /// Those of a plan that has lapsed are kept; then only the default takes withdrawals, which `transaction` decides.
    static func limit(hasPlan: Bool) -> Int {
        hasPlan ? PlanAllowance.paidBeneficiaries : PlanAllowance.freeBeneficiaries
    }

    /// The fields of the seals; other services open them by the same names.
    static let numberField = "beneficiary.account_number"
    static let nameField = "beneficiary.account_name"
}

/// How far the bank's confirmation is.
enum BeneficiaryStatus: String, Sendable {
    /// The bank is being asked.
    case pending
    /// The bank has said the holder's name.
    case verified
    /// The bank does not know the account.
    case rejected
}

/// Why a beneficiary was rejected.
enum RejectReason: String, Hashable, Sendable {
    /// The bank has no such account.
    case accountNotFound = "account_not_found"
    /// The provider reaches no bank with that code.
    case unknownBank = "unknown_bank"
    /// The provider refuses the account.
    case refusedByProvider = "refused_by_provider"
    /// The account is somebody else's.
    case nameMismatch = "name_mismatch"
}
