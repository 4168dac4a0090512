import Foundation

/// GET /accounts/me: where to send money to fund the wallet.
public struct AccountResource: Codable, Sendable, Hashable {
    /// The account.
    public var id: UUID
    /// `pending` or `open`.
    public var status: String
    /// Ten digits, once it is open.
    public var accountNumber: String?
    /// The holder.
    public var accountName: String?
    /// The bank.
    public var bankName: String?
    /// NGN.
    public var currency: String

    /// Puts the values together.
    public init(
        id: UUID,
        status: String,
        accountNumber: String? = nil,
        accountName: String? = nil,
        bankName: String? = nil,
        currency: String
    ) {
        self.id = id
        self.status = status
        self.accountNumber = accountNumber
        self.accountName = accountName
        self.bankName = bankName
        self.currency = currency
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case status
        case accountNumber = "account_number"
        case accountName = "account_name"
        case bankName = "bank_name"
        case currency
    }
}
