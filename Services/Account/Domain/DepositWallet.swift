import Contracts
import Foundation
import Primitives

/// The deposit account behind a user's wallet as stored; number and name sealed.
struct DepositWallet: Sendable {
    let id: UUID
    let user: UserID
    var accountType: Open<AccountType>?
    var anchorCustomerID: String?
    var isVerified = false
    var isErased = false
    var anchorAccountID: String?
    var status = WalletStatus.pending
    var accountNumber: Sealed?
    var accountName: Sealed?
    var bankName: String?

    /// The fields of the seals; other services open them by the same names.
    static let numberField = "account.account_number"
    static let nameField = "account.account_name"
}

/// How far a wallet is.
enum WalletStatus: String, Sendable {
    /// The user is not verified, or the provider has not assigned a number yet.
    case pending
    /// Money can be paid in.
    case open
}
