import Foundation

/// Somebody asks for money.
///
/// Published by transaction.
public struct PaymentRequestCreated: EventData {
    /// `payment_request.created`.
    public static let type: EventType = "payment_request.created"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case timestamp
    }
}

/// The payment of a request has arrived.
///
/// Published by transaction.
public struct PaymentRequestFulfilled: EventData {
    /// `payment_request.fulfilled`.
    public static let type: EventType = "payment_request.fulfilled"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// The payment.
    public var transactionID: UUID
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        transactionID: UUID,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.transactionID = transactionID
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case transactionID = "transaction_id"
        case timestamp
    }
}

/// The payment of a request failed or came back: it can be paid again.
///
/// Published by transaction.
public struct PaymentRequestReopened: EventData {
    /// `payment_request.reopened`.
    public static let type: EventType = "payment_request.reopened"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// The payment.
    public var transactionID: UUID
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        transactionID: UUID,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.transactionID = transactionID
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case transactionID = "transaction_id"
        case timestamp
    }
}

/// The person asked has said no.
///
/// Published by transaction.
public struct PaymentRequestDeclined: EventData {
    /// `payment_request.declined`.
    public static let type: EventType = "payment_request.declined"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case timestamp
    }
}

/// The owner has taken a request back.
///
/// Published by transaction.
public struct PaymentRequestCancelled: EventData {
    /// `payment_request.cancelled`.
    public static let type: EventType = "payment_request.cancelled"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case timestamp
    }
}

/// The time of a request is over.
///
/// Published by transaction.
public struct PaymentRequestExpired: EventData {
    /// `payment_request.expired`.
    public static let type: EventType = "payment_request.expired"

    /// The request.
    public var paymentRequestID: UUID
    /// Who asks for the money.
    public var ownerID: UUID
    /// Who is asked; nil for whoever has the link.
    public var payerID: UUID?
    /// Kobo; nil when the payer chooses.
    public var amount: Int64?
    /// The payment that failed too late for another one; nil when there was none.
    public var transactionID: UUID?
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        paymentRequestID: UUID,
        ownerID: UUID,
        payerID: UUID? = nil,
        amount: Int64? = nil,
        transactionID: UUID? = nil,
        timestamp: String
    ) {
        self.paymentRequestID = paymentRequestID
        self.ownerID = ownerID
        self.payerID = payerID
        self.amount = amount
        self.transactionID = transactionID
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case paymentRequestID = "payment_request_id"
        case ownerID = "owner_id"
        case payerID = "payer_id"
        case amount
        case transactionID = "transaction_id"
        case timestamp
    }
}
