import Foundation

/// POST /transactions/self-transfer.
public struct SelfTransferRequest: Codable, Sendable, Hashable {
    /// A verified bank account of the user's own.
    public var beneficiaryID: UUID
    /// Kobo.
    public var amount: Int64

    /// Puts the values together.
    public init(
        beneficiaryID: UUID,
        amount: Int64
    ) {
        self.beneficiaryID = beneficiaryID
        self.amount = amount
    }

    private enum CodingKeys: String, CodingKey {
        case beneficiaryID = "beneficiary_id"
        case amount
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

    /// Puts the values together.
    public init(
        type: String? = nil,
        recipientUsername: String? = nil,
        amount: Int64
    ) {
        self.type = type
        self.recipientUsername = recipientUsername
        self.amount = amount
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case recipientUsername = "recipient_username"
        case amount
    }
}

/// What an order would cost and which way it would go, if it were given now.
public struct QuoteResponse: Codable, Sendable, Hashable {
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
    /// RFC 3339, UTC: after this ask again.
    public var expiresAt: String

    /// Puts the values together.
    public init(
        type: String,
        route: String,
        amount: Int64,
        fee: Int64,
        duty: Int64,
        total: Int64,
        expiresAt: String
    ) {
        self.type = type
        self.route = route
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.total = total
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case type
        case route
        case amount
        case fee
        case duty
        case total
        case expiresAt = "expires_at"
    }
}
