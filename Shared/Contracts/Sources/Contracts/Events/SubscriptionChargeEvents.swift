import Foundation

/// A plan's price is to be taken from a wallet.
///
/// Published by subscription. No second attempt is asked for before the first one is decided.
public struct SubscriptionChargeRequested: EventData {
    /// `subscription.charge_requested`.
    public static let type: EventType = "subscription.charge_requested"

    /// The person or business.
    public var userID: UUID
    /// `sub-<user>-<yyyymmdd>`: of the user and the day on which the period begins; paid once.
    public var reference: String
    /// Counts up from 1.
    public var attempt: Int
    /// The plan.
    public var plan: String
    /// Kobo.
    public var amount: Int64

    /// Puts the values together.
    public init(userID: UUID, reference: String, attempt: Int, plan: String, amount: Int64) {
        self.userID = userID
        self.reference = reference
        self.attempt = attempt
        self.plan = plan
        self.amount = amount
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case reference
        case attempt
        case plan
        case amount
    }
}

/// A plan's price was taken.
///
/// Published by transaction.
public struct SubscriptionChargePaid: EventData {
    /// `subscription_charge.paid`.
    public static let type: EventType = "subscription_charge.paid"

    /// The person or business.
    public var userID: UUID
    /// Of the charge.
    public var reference: String
    /// The attempt that is answered.
    public var attempt: Int
    /// Kobo.
    public var amount: Int64
    /// The transaction that moved the money.
    public var transactionID: UUID
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        userID: UUID,
        reference: String,
        attempt: Int,
        amount: Int64,
        transactionID: UUID,
        timestamp: String
    ) {
        self.userID = userID
        self.reference = reference
        self.attempt = attempt
        self.amount = amount
        self.transactionID = transactionID
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case reference
        case attempt
        case amount
        case transactionID = "transaction_id"
        case timestamp
    }
}

/// A plan's price could not be taken; nothing moved.
///
/// Published by transaction.
public struct SubscriptionChargeRefused: EventData {
    /// `subscription_charge.refused`.
    public static let type: EventType = "subscription_charge.refused"

    /// The person or business.
    public var userID: UUID
    /// Of the charge.
    public var reference: String
    /// The attempt that is answered.
    public var attempt: Int
    /// Kobo.
    public var amount: Int64
    /// A code: `insufficient_funds`, `sender_restricted` or `sender_unknown`.
    public var reason: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(userID: UUID, reference: String, attempt: Int, amount: Int64, reason: String, timestamp: String) {
        self.userID = userID
        self.reference = reference
        self.attempt = attempt
        self.amount = amount
        self.reason = reason
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case reference
        case attempt
        case amount
        case reason
        case timestamp
    }
}

/// A plan could not be paid.
///
/// Published by subscription.
public struct SubscriptionPaymentFailed: EventData {
    /// `subscription.payment_failed`.
    public static let type: EventType = "subscription.payment_failed"

    /// The person or business.
    public var userID: UUID
    /// The plan.
    public var plan: String
    /// Kobo.
    public var amount: Int64
    /// A code.
    public var reason: String
    /// RFC 3339, UTC: when it is tried again; nil: it is not.
    public var retryAt: String?
    /// RFC 3339, UTC: the plan stays active until then; nil: there is none, this was its first charge.
    public var graceUntil: String?

    /// Puts the values together.
    public init(
        userID: UUID,
        plan: String,
        amount: Int64,
        reason: String,
        retryAt: String? = nil,
        graceUntil: String? = nil
    ) {
        self.userID = userID
        self.plan = plan
        self.amount = amount
        self.reason = reason
        self.retryAt = retryAt
        self.graceUntil = graceUntil
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
        case amount
        case reason
        case retryAt = "retry_at"
        case graceUntil = "grace_until"
    }
}
