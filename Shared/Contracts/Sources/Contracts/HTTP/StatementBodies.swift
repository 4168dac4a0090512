import Foundation

/// GET /statements: a page of it.
public struct StatementResource: Codable, Sendable, Hashable {
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// NGN.
    public var currency: String
    /// Kobo in the wallet when the first day began.
    public var openingBalance: Int64
    /// Kobo in the wallet when the last day ended, or now.
    public var closingBalance: Int64
    /// Oldest first.
    public var lines: [StatementLineResource]
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    /// Puts the values together.
    public init(
        from: String,
        to: String,
        currency: String,
        openingBalance: Int64,
        closingBalance: Int64,
        lines: [StatementLineResource],
        nextCursor: String? = nil
    ) {
        self.from = from
        self.to = to
        self.currency = currency
        self.openingBalance = openingBalance
        self.closingBalance = closingBalance
        self.lines = lines
        self.nextCursor = nextCursor
    }

    private enum CodingKeys: String, CodingKey {
        case from
        case to
        case currency
        case openingBalance = "opening_balance"
        case closingBalance = "closing_balance"
        case lines
        case nextCursor = "next_cursor"
    }
}

/// One entry of the wallet.
public struct StatementLineResource: Codable, Sendable, Hashable {
    /// The transfer that it belongs to.
    public var transactionID: UUID
    /// Of the transfer.
    public var reference: String
    /// RFC 3339, UTC.
    public var postedAt: String
    /// What it was.
    public var description: String
    /// Kobo; below zero: went out.
    public var amount: Int64
    /// Kobo in the wallet after it.
    public var balance: Int64

    /// Puts the values together.
    public init(
        transactionID: UUID,
        reference: String,
        postedAt: String,
        description: String,
        amount: Int64,
        balance: Int64
    ) {
        self.transactionID = transactionID
        self.reference = reference
        self.postedAt = postedAt
        self.description = description
        self.amount = amount
        self.balance = balance
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case reference
        case postedAt = "posted_at"
        case description
        case amount
        case balance
    }
}
