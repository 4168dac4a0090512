import Foundation

/// POST /beneficiaries.
public struct BeneficiaryRequest: Codable, Sendable, Hashable {
    /// 10 digits.
    public var accountNumber: String
    /// NIP code, 6 digits.
    public var bankCode: String

    /// Puts the values together.
    public init(accountNumber: String, bankCode: String) {
        self.accountNumber = accountNumber
        self.bankCode = bankCode
    }

    private enum CodingKeys: String, CodingKey {
        case accountNumber = "account_number"
        case bankCode = "bank_code"
    }
}

/// A bank account of the user.
public struct BeneficiaryResource: Codable, Sendable, Hashable {
    /// The beneficiary.
    public var id: UUID
    /// Masked but for the last four digits.
    public var accountNumber: String
    /// The holder, once the bank has said it.
    public var accountName: String?
    /// NIP code.
    public var bankCode: String
    /// The bank.
    public var bankName: String?
    /// `pending`, `review`, `verified` or `rejected`.
    public var status: String
    /// Whether payments go there.
    public var isDefault: Bool
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        id: UUID,
        accountNumber: String,
        accountName: String? = nil,
        bankCode: String,
        bankName: String? = nil,
        status: String,
        isDefault: Bool,
        createdAt: String
    ) {
        self.id = id
        self.accountNumber = accountNumber
        self.accountName = accountName
        self.bankCode = bankCode
        self.bankName = bankName
        self.status = status
        self.isDefault = isDefault
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case accountNumber = "account_number"
        case accountName = "account_name"
        case bankCode = "bank_code"
        case bankName = "bank_name"
        case status
        case isDefault = "is_default"
        case createdAt = "created_at"
    }
}
