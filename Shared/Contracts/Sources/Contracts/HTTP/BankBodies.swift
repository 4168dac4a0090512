import Foundation

/// A bank that money can be sent to.
public struct BankResource: Codable, Sendable, Hashable {
    /// NIP code, six digits.
    public var code: String
    /// Its name.
    public var name: String

    /// Puts the values together.
    public init(code: String, name: String) {
        self.code = code
        self.name = name
    }
}

/// GET /banks.
public struct BankList: Codable, Sendable, Hashable {
    /// By name.
    public var data: [BankResource]

    /// Puts the values together.
    public init(data: [BankResource]) { self.data = data }
}

/// POST /beneficiaries/verify: whose account a number is.
public struct EnquiryResource: Codable, Sendable, Hashable {
    /// The enquiry.
    public var id: UUID
    /// Masked but for the last four digits.
    public var accountNumber: String
    /// The holder, once the bank has said it.
    public var accountName: String?
    /// NIP code.
    public var bankCode: String
    /// The bank.
    public var bankName: String?
    /// `pending` or `found`.
    public var status: String

    /// Puts the values together.
    public init(
        id: UUID,
        accountNumber: String,
        accountName: String? = nil,
        bankCode: String,
        bankName: String? = nil,
        status: String
    ) {
        self.id = id
        self.accountNumber = accountNumber
        self.accountName = accountName
        self.bankCode = bankCode
        self.bankName = bankName
        self.status = status
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case accountNumber = "account_number"
        case accountName = "account_name"
        case bankCode = "bank_code"
        case bankName = "bank_name"
        case status
    }
}
