import Foundation

/// The provider knows the customer.
///
/// Published by customer.
public struct CustomerCreated: EventData {
    /// `customer.created`.
    public static let type: EventType = "customer.created"

    /// The person or business.
    public var userID: UUID
    /// The provider's id.
    public var anchorCustomerID: String
    /// Personal or merchant.
    public var accountType: Open<AccountType>
    /// Whose customer this was before: the same person, who had closed that profile.
    public var succeeds: UUID?

    /// Puts the values together.
    public init(userID: UUID, anchorCustomerID: String, accountType: Open<AccountType>, succeeds: UUID? = nil) {
        self.userID = userID
        self.anchorCustomerID = anchorCustomerID
        self.accountType = accountType
        self.succeeds = succeeds
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case anchorCustomerID = "anchor_customer_id"
        case accountType = "account_type"
        case succeeds
    }
}

/// The provider has verified the customer.
///
/// Published by notification.
public struct CustomerVerified: EventData {
    /// `customer.verified`.
    public static let type: EventType = "customer.verified"

    /// The person or business.
    public var userID: UUID
    /// The provider's id.
    public var anchorCustomerID: String

    /// Puts the values together.
    public init(userID: UUID, anchorCustomerID: String) {
        self.userID = userID
        self.anchorCustomerID = anchorCustomerID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case anchorCustomerID = "anchor_customer_id"
    }
}

/// The provider has refused the customer, or needs more.
///
/// Published by notification.
public struct CustomerRejected: EventData {
    /// `customer.rejected`.
    public static let type: EventType = "customer.rejected"

    /// The person or business.
    public var userID: UUID
    /// The provider's id.
    public var anchorCustomerID: String
    /// What the provider says.
    public var status: Open<VerificationStatus>
    /// A code, never free text.
    public var reason: String?

    /// Puts the values together.
    public init(userID: UUID, anchorCustomerID: String, status: Open<VerificationStatus>, reason: String? = nil) {
        self.userID = userID
        self.anchorCustomerID = anchorCustomerID
        self.status = status
        self.reason = reason
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case anchorCustomerID = "anchor_customer_id"
        case status
        case reason
    }
}

/// The provider did not take the details of a user: until others come, nothing is verified.
///
/// Published by customer.
public struct CustomerDetailsRefused: EventData {
    /// `customer.details_refused`.
    public static let type: EventType = "customer.details_refused"

    /// The person or business.
    public var userID: UUID
    /// A code, never free text.
    public var reason: String
    /// The sequence of the event that brought the details: newer ones are not meant.
    public var detailsSequence: Int64

    /// Puts the values together.
    public init(userID: UUID, reason: String, detailsSequence: Int64) {
        self.userID = userID
        self.reason = reason
        self.detailsSequence = detailsSequence
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case reason
        case detailsSequence = "details_sequence"
    }
}

/// A bank account was verified and belongs to the user.
///
/// Published by customer.
public struct BeneficiaryAdded: EventData {
    /// `beneficiary.added`.
    public static let type: EventType = "beneficiary.added"

    /// The person or business.
    public var userID: UUID
    /// The beneficiary.
    public var beneficiaryID: UUID
    /// The provider's id.
    public var anchorCounterpartyID: String
    /// Whether payments to the user go there.
    public var isDefault: Bool
    /// The bank.
    public var bankName: String
    /// The bank's NIP code; nil from older versions.
    public var bankCode: String?
    /// Ten digits, sealed.
    public var accountNumber: Sealed
    /// The holder's name, sealed.
    public var accountName: Sealed

    /// Puts the values together.
    public init(
        userID: UUID,
        beneficiaryID: UUID,
        anchorCounterpartyID: String,
        isDefault: Bool,
        bankName: String,
        bankCode: String? = nil,
        accountNumber: Sealed,
        accountName: Sealed
    ) {
        self.bankCode = bankCode
        self.userID = userID
        self.beneficiaryID = beneficiaryID
        self.anchorCounterpartyID = anchorCounterpartyID
        self.isDefault = isDefault
        self.bankName = bankName
        self.accountNumber = accountNumber
        self.accountName = accountName
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case beneficiaryID = "beneficiary_id"
        case anchorCounterpartyID = "anchor_counterparty_id"
        case isDefault = "is_default"
        case bankName = "bank_name"
        case bankCode = "bank_code"
        case accountNumber = "account_number"
        case accountName = "account_name"
    }
}

/// A beneficiary was deleted.
///
/// Published by customer.
public struct BeneficiaryRemoved: EventData {
    /// `beneficiary.removed`.
    public static let type: EventType = "beneficiary.removed"

    /// The person or business.
    public var userID: UUID
    /// The beneficiary.
    public var beneficiaryID: UUID

    /// Puts the values together.
    public init(userID: UUID, beneficiaryID: UUID) {
        self.userID = userID
        self.beneficiaryID = beneficiaryID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case beneficiaryID = "beneficiary_id"
    }
}

/// Another beneficiary is the default now, or none.
///
/// Published by customer.
public struct BeneficiaryDefaulted: EventData {
    /// `beneficiary.defaulted`.
    public static let type: EventType = "beneficiary.defaulted"

    /// The person or business.
    public var userID: UUID
    /// The default beneficiary; nil when there is none.
    public var beneficiaryID: UUID?

    /// Puts the values together.
    public init(userID: UUID, beneficiaryID: UUID? = nil) {
        self.userID = userID
        self.beneficiaryID = beneficiaryID
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case beneficiaryID = "beneficiary_id"
    }
}
