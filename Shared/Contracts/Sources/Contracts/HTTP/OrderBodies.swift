import Foundation

/// POST /transactions/self-transfer.
public struct SelfTransferRequest: Codable, Sendable, Hashable {
    /// A verified bank account of the user's own.
    public var beneficiaryID: UUID
    /// Kobo.
    public var amount: Int64
    /// The quote it was decided on: refused when that has expired or costs more by now.
    public var quoteID: String?

    /// Puts the values together.
    public init(
        beneficiaryID: UUID,
        amount: Int64,
        quoteID: String? = nil
    ) {
        self.beneficiaryID = beneficiaryID
        self.amount = amount
        self.quoteID = quoteID
    }

    private enum CodingKeys: String, CodingKey {
        case beneficiaryID = "beneficiary_id"
        case amount
        case quoteID = "quote_id"
    }
}

/// The answer to POST /transactions/self-transfer.
public struct SelfTransferResponse: Codable, Sendable, Hashable {
    /// The transfer.
    public var transactionID: UUID
    /// `accepted`.
    public var status: String
    /// `external`.
    public var route: String
    /// Kobo.
    public var amount: Int64
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// Where the money goes.
    public var beneficiaryID: UUID
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
        beneficiaryID: UUID,
        createdAt: String
    ) {
        self.transactionID = transactionID
        self.status = status
        self.route = route
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.beneficiaryID = beneficiaryID
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case status
        case route
        case amount
        case fee
        case duty
        case beneficiaryID = "beneficiary_id"
        case createdAt = "created_at"
    }
}

/// POST /transactions/quote.
public struct QuoteRequest: Codable, Sendable, Hashable {
    /// `p2p` (as if absent), `self_transfer` or `money_drop`.
    public var type: String?
    /// For `p2p`: who is paid.
    public var recipientUsername: String?
    /// Kobo; of a drop, all slots together.
    public var amount: Int64
    /// For `self_transfer`: where to; without it nothing is said about the bank.
    public var beneficiaryID: UUID?

    /// Puts the values together.
    public init(
        type: String? = nil,
        recipientUsername: String? = nil,
        amount: Int64,
        beneficiaryID: UUID? = nil
    ) {
        self.beneficiaryID = beneficiaryID
        self.type = type
        self.recipientUsername = recipientUsername
        self.amount = amount
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case recipientUsername = "recipient_username"
        case amount
        case beneficiaryID = "beneficiary_id"
    }
}

/// What an order would cost and which way it would go, if it were given now.
public struct QuoteResponse: Codable, Sendable, Hashable {
    /// Names the quote in the order, which then is refused when this has expired or costs more by now.
    public var quoteID: String
    /// `p2p`, `self_transfer` or `money_drop`.
    public var type: String
    /// `external` or `internal`.
    public var route: String
    /// Kobo.
    public var amount: Int64
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// Kobo that would be held.
    public var total: Int64
    /// How the bank is doing to which the money would go: `normal`, `slow` or `down`; nil for a wallet.
    public var bankStatus: String?
    /// RFC 3339, UTC: after this ask again.
    public var expiresAt: String

    /// Puts the values together.
    public init(
        quoteID: String,
        type: String,
        route: String,
        amount: Int64,
        fee: Int64,
        duty: Int64,
        total: Int64,
        bankStatus: String? = nil,
        expiresAt: String
    ) {
        self.quoteID = quoteID
        self.bankStatus = bankStatus
        self.type = type
        self.route = route
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.total = total
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case quoteID = "quote_id"
        case type
        case route
        case amount
        case fee
        case duty
        case total
        case bankStatus = "bank_status"
        case expiresAt = "expires_at"
    }
}
