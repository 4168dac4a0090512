import Foundation

/// POST /payment-requests.
public struct PaymentRequestRequest: Codable, Sendable, Hashable {
    /// Kobo; nil: the payer chooses.
    public var amount: Int64?
    /// Who is asked; nil: whoever has the link.
    public var payerUsername: String?
    /// At most 140 characters.
    public var description: String?
    /// The owner's number of the sale: 1 to 40 letters, digits, dots, underscores, slashes and hyphens.
    public var reference: String?
    /// RFC 3339; in the future, at most 92 days away; nil: in 30 days.
    public var expiresAt: String?
    /// Whether it may be paid again and again; without a payer only.
    public var multiple: Bool?

    /// Puts the values together.
    public init(
        amount: Int64? = nil,
        payerUsername: String? = nil,
        description: String? = nil,
        reference: String? = nil,
        expiresAt: String? = nil,
        multiple: Bool? = nil
    ) {
        self.multiple = multiple
        self.amount = amount
        self.payerUsername = payerUsername
        self.description = description
        self.reference = reference
        self.expiresAt = expiresAt
    }

    private enum CodingKeys: String, CodingKey {
        case amount
        case payerUsername = "payer_username"
        case description
        case reference
        case expiresAt = "expires_at"
        case multiple
    }
}

/// A request as its owner, or somebody who may pay it, sees it.
public struct PaymentRequestResource: Codable, Sendable, Hashable {
    /// The request.
    public var id: UUID
    /// `outgoing` for its owner, `incoming` for everybody else.
    public var direction: String
    /// Who asks; nil when the profile is gone.
    public var ownerUsername: String?
    /// Who is asked; nil: whoever has the link.
    public var payerUsername: String?
    /// Kobo; nil: the payer chooses.
    public var amount: Int64?
    /// What the owner wrote.
    public var description: String?
    /// The owner's number of the sale.
    public var reference: String?
    /// Where the image is, below the address of the API.
    public var imageURL: String?
    /// `open`, `processing`, `fulfilled`, `declined`, `cancelled` or `expired`.
    public var status: String
    /// Whether it may be paid again and again until it ends.
    public var multiple: Bool
    /// How many payments have arrived; for its owner only.
    public var paidCount: Int64?
    /// Kobo that have arrived; for its owner only.
    public var paidTotal: Int64?
    /// The payment; for its two parties only.
    public var transactionID: UUID?
    /// What to share.
    public var link: String
    /// RFC 3339, UTC.
    public var expiresAt: String
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        id: UUID,
        direction: String,
        ownerUsername: String? = nil,
        payerUsername: String? = nil,
        amount: Int64? = nil,
        description: String? = nil,
        reference: String? = nil,
        imageURL: String? = nil,
        status: String,
        multiple: Bool,
        paidCount: Int64? = nil,
        paidTotal: Int64? = nil,
        transactionID: UUID? = nil,
        link: String,
        expiresAt: String,
        createdAt: String
    ) {
        self.id = id
        self.direction = direction
        self.ownerUsername = ownerUsername
        self.payerUsername = payerUsername
        self.amount = amount
        self.description = description
        self.reference = reference
        self.imageURL = imageURL
        self.status = status
        self.multiple = multiple
        self.paidCount = paidCount
        self.paidTotal = paidTotal
        self.transactionID = transactionID
        self.link = link
        self.expiresAt = expiresAt
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case direction
        case ownerUsername = "owner_username"
        case payerUsername = "payer_username"
        case amount
        case description
        case reference
        case imageURL = "image_url"
        case status
        case multiple
        case paidCount = "paid_count"
        case paidTotal = "paid_total"
        case transactionID = "transaction_id"
        case link
        case expiresAt = "expires_at"
        case createdAt = "created_at"
    }
}

/// GET /payment-requests.
public struct PaymentRequestPage: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [PaymentRequestResource]
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    /// Puts the values together.
    public init(
        data: [PaymentRequestResource],
        nextCursor: String? = nil
    ) {
        self.data = data
        self.nextCursor = nextCursor
    }

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }
}

/// POST /payment-requests/{id}/pay.
public struct PayRequestRequest: Codable, Sendable, Hashable {
    /// Kobo; needed when the request leaves it open, otherwise it must be the same.
    public var amount: Int64?
    /// At most 140 characters.
    public var description: String?
    /// The quote it was decided on: refused when that has expired or costs more by now.
    public var quoteID: String?

    /// Puts the values together.
    public init(
        amount: Int64? = nil,
        description: String? = nil,
        quoteID: String? = nil
    ) {
        self.amount = amount
        self.description = description
        self.quoteID = quoteID
    }

    private enum CodingKeys: String, CodingKey {
        case amount
        case description
        case quoteID = "quote_id"
    }
}
