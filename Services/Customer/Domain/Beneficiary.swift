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
    /// Whether people have looked at the holder's name and found it the user's.
    var isNameAccepted = false

    /// How many a user may have when another is added, whatever state they are in but rejected; the other counts.
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
    /// The holder may be the user or not: people look.
    case review
    /// The bank has said the holder's name, and it is the user's.
    case verified
    /// The bank does not know the account, or it is somebody else's.
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
