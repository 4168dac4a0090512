import Foundation

/// GET /wallet.
public struct WalletResource: Codable, Sendable, Hashable {
    /// Kobo that can be spent.
    public var available: Int64
    /// Kobo booked.
    public var posted: Int64
    /// Kobo in transfers under way.
    public var held: Int64
    /// Kobo that were taken back and had been spent; what comes in pays them first.
    public var owed: Int64
    /// NGN.
    public var currency: String

    /// Puts the values together.
    public init(available: Int64, posted: Int64, held: Int64, owed: Int64 = 0, currency: String) {
        self.available = available
        self.posted = posted
        self.held = held
        self.owed = owed
        self.currency = currency
    }
}

/// POST /transactions/p2p.
public struct P2PRequest: Codable, Sendable, Hashable {
    /// Who is paid.
    public var recipientUsername: String
    /// Kobo.
    public var amount: Int64
    /// At most 140 characters.
    public var description: String?
    /// The request it pays.
    public var paymentRequestID: UUID?
    /// The quote it was decided on: refused when that has expired or costs more by now.
    public var quoteID: String?

    /// Puts the values together.
    public init(
        recipientUsername: String,
        amount: Int64,
        description: String? = nil,
        paymentRequestID: UUID? = nil,
        quoteID: String? = nil
    ) {
        self.recipientUsername = recipientUsername
        self.amount = amount
        self.description = description
        self.paymentRequestID = paymentRequestID
        self.quoteID = quoteID
    }

    private enum CodingKeys: String, CodingKey {
        case recipientUsername = "recipient_username"
        case amount
        case description
        case paymentRequestID = "payment_request_id"
        case quoteID = "quote_id"
    }
}

/// The answer to POST /transactions/p2p.
public struct P2PResponse: Codable, Sendable, Hashable {
    /// The transfer.
    public var transactionID: UUID
    /// `accepted`.
    public var status: String
    /// `external` or `internal`.
    public var route: String
    /// Kobo.
    public var amount: Int64
    /// Kobo.
    public var fee: Int64
    /// Kobo of stamp duty.
    public var duty: Int64
    /// Who is paid.
    public var recipientUsername: String
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        transactionID: UUID,
        status: String,
        route: String,
        amount: Int64,
        fee: Int64,
        duty: Int64,
        recipientUsername: String,
        createdAt: String
    ) {
        self.transactionID = transactionID
        self.status = status
        self.route = route
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.recipientUsername = recipientUsername
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case status
        case route
        case amount
        case fee
        case duty
        case recipientUsername = "recipient_username"
        case createdAt = "created_at"
    }
}

/// A transfer as one of its parties sees it.
public struct TransactionResource: Codable, Sendable, Hashable {
    /// The transfer.
    public var id: UUID
    /// What kind.
    public var type: String
    /// `accepted`, `submitted`, `unknown`, `completed`, `failed`, `reversed`, `in_suspense` or `returned`.
    public var state: String
    /// `in` or `out`, seen from the reader.
    public var direction: String
    /// Kobo.
    public var amount: Int64
    /// Kobo; for the payer only.
    public var fee: Int64?
    /// Stamp duty, kobo; for the payer only.
    public var duty: Int64?
    /// `external` or `internal`.
    public var route: String
    /// The other party.
    public var counterpartyUsername: String?
    /// What the payer wrote.
    public var description: String?
    /// A code.
    public var failureReason: String?
    /// The money drop it fills, pays out or gives back.
    public var moneyDropID: UUID?
    /// The payment request it pays.
    public var paymentRequestID: UUID?
    /// RFC 3339, UTC.
    public var createdAt: String
    /// RFC 3339, UTC.
    public var settledAt: String?

    /// Puts the values together.
    public init(
        id: UUID,
        type: String,
        state: String,
        direction: String,
        amount: Int64,
        fee: Int64? = nil,
        duty: Int64? = nil,
        route: String,
        counterpartyUsername: String? = nil,
        description: String? = nil,
        failureReason: String? = nil,
        moneyDropID: UUID? = nil,
        paymentRequestID: UUID? = nil,
        createdAt: String,
        settledAt: String? = nil
    ) {
        self.id = id
        self.type = type
        self.state = state
        self.direction = direction
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.route = route
        self.counterpartyUsername = counterpartyUsername
        self.description = description
        self.failureReason = failureReason
        self.moneyDropID = moneyDropID
        self.paymentRequestID = paymentRequestID
        self.createdAt = createdAt
        self.settledAt = settledAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case type
        case state
        case direction
        case amount
        case fee
        case duty
        case route
        case counterpartyUsername = "counterparty_username"
        case description
        case failureReason = "failure_reason"
        case moneyDropID = "money_drop_id"
        case paymentRequestID = "payment_request_id"
        case createdAt = "created_at"
        case settledAt = "settled_at"
    }
}

/// GET /transactions.
public struct TransactionPage: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [TransactionResource]
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    /// Puts the values together.
    public init(data: [TransactionResource], nextCursor: String? = nil) {
        self.data = data
        self.nextCursor = nextCursor
    }

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }
}
