import Foundation

/// A wallet exists: the deposit account and its number.
///
/// Published by account.
public struct AccountOpened: EventData {
    /// `account.opened`.
    public static let type: EventType = "account.opened"

    /// The person or business.
    public var userID: UUID
    /// Our id.
    public var accountID: UUID
    /// The provider's id.
    public var anchorAccountID: String
    /// The bank that holds it.
    public var bankName: String
    /// Ten digits, sealed.
    public var accountNumber: Sealed
    /// The holder's name, sealed.
    public var accountName: Sealed

    /// Puts the values together.
    public init(
        userID: UUID,
        accountID: UUID,
        anchorAccountID: String,
        bankName: String,
        accountNumber: Sealed,
        accountName: Sealed
    ) {
        self.userID = userID
        self.accountID = accountID
        self.anchorAccountID = anchorAccountID
        self.bankName = bankName
        self.accountNumber = accountNumber
        self.accountName = accountName
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case accountID = "account_id"
        case anchorAccountID = "anchor_account_id"
        case bankName = "bank_name"
        case accountNumber = "account_number"
        case accountName = "account_name"
    }
}

/// Money arrived from outside.
///
/// Published by account, once per provider payment.
public struct WalletCredited: EventData {
    /// `wallet.credited`.
    public static let type: EventType = "wallet.credited"

    /// The person or business.
    public var userID: UUID
    /// Our id of the payment.
    public var paymentID: UUID
    /// The provider's id; unique.
    public var providerPaymentID: String
    /// The account it arrived on.
    public var anchorAccountID: String
    /// Kobo.
    public var amount: Int64
    /// The reference it carried, when that is one of ours.
    public var reference: String?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        userID: UUID,
        paymentID: UUID,
        providerPaymentID: String,
        anchorAccountID: String,
        amount: Int64,
        reference: String? = nil,
        timestamp: String
    ) {
        self.userID = userID
        self.paymentID = paymentID
        self.providerPaymentID = providerPaymentID
        self.anchorAccountID = anchorAccountID
        self.amount = amount
        self.reference = reference
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case paymentID = "payment_id"
        case providerPaymentID = "provider_payment_id"
        case anchorAccountID = "anchor_account_id"
        case amount
        case reference
        case timestamp
    }
}

/// Money arrived on an account that belongs to nobody we know.
///
/// Published by account, once per provider payment.
public struct PaymentUnmatched: EventData {
    /// `payment.unmatched`.
    public static let type: EventType = "payment.unmatched"

    /// The provider's id; unique.
    public var providerPaymentID: String
    /// The account it arrived on.
    public var anchorAccountID: String
    /// Kobo.
    public var amount: Int64
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        providerPaymentID: String,
        anchorAccountID: String,
        amount: Int64,
        timestamp: String
    ) {
        self.providerPaymentID = providerPaymentID
        self.anchorAccountID = anchorAccountID
        self.amount = amount
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case providerPaymentID = "provider_payment_id"
        case anchorAccountID = "anchor_account_id"
        case amount
        case timestamp
    }
}
