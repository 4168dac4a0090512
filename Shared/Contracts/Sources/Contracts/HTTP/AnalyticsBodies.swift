import Foundation

/// GET /analytics/summary: money in against money out; also one bucket of a series.
public struct AnalyticsSummary: Codable, Sendable, Hashable {
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// Kobo, wallet and bank together.
    public var moneyIn: Int64
    /// Kobo that arrived in the wallet.
    public var inWallet: Int64
    /// Kobo that arrived at the user's bank.
    public var inBank: Int64
    /// Kobo sent.
    public var moneyOut: Int64
    /// Kobo of fees and duty.
    public var fees: Int64

    /// Puts the values together.
    public init(
        from: String,
        to: String,
        moneyIn: Int64,
        inWallet: Int64,
        inBank: Int64,
        moneyOut: Int64,
        fees: Int64
    ) {
        self.from = from
        self.to = to
        self.moneyIn = moneyIn
        self.inWallet = inWallet
        self.inBank = inBank
        self.moneyOut = moneyOut
        self.fees = fees
    }

    private enum CodingKeys: String, CodingKey {
        case from
        case to
        case moneyIn = "money_in"
        case inWallet = "in_wallet"
        case inBank = "in_bank"
        case moneyOut = "money_out"
        case fees
    }
}

/// GET /analytics/series.
public struct AnalyticsSeries: Codable, Sendable, Hashable {
    /// `day`, `week` or `month`.
    public var period: String
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// Every bucket of the time asked for, oldest first.
    public var data: [AnalyticsSummary]

    /// Puts the values together.
    public init(period: String, from: String, to: String, data: [AnalyticsSummary]) {
        self.period = period
        self.from = from
        self.to = to
        self.data = data
    }
}

/// What moved for one thing.
public struct AnalyticsCategory: Codable, Sendable, Hashable {
    /// What it was for.
    public var category: String
    /// Kobo.
    public var moneyIn: Int64
    /// Kobo.
    public var moneyOut: Int64

    /// Puts the values together.
    public init(category: String, moneyIn: Int64, moneyOut: Int64) {
        self.category = category
        self.moneyIn = moneyIn
        self.moneyOut = moneyOut
    }

    private enum CodingKeys: String, CodingKey {
        case category
        case moneyIn = "money_in"
        case moneyOut = "money_out"
    }
}

/// GET /analytics/categories.
public struct AnalyticsCategories: Codable, Sendable, Hashable {
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// Most money first.
    public var data: [AnalyticsCategory]

    /// Puts the values together.
    public init(from: String, to: String, data: [AnalyticsCategory]) {
        self.from = from
        self.to = to
        self.data = data
    }
}

/// What moved between the user and somebody else.
public struct AnalyticsCounterparty: Codable, Sendable, Hashable {
    /// Nil when it is not known (any more).
    public var username: String?
    /// Kobo.
    public var moneyIn: Int64
    /// Kobo.
    public var moneyOut: Int64
    /// How many.
    public var payments: Int

    /// Puts the values together.
    public init(username: String? = nil, moneyIn: Int64, moneyOut: Int64, payments: Int) {
        self.username = username
        self.moneyIn = moneyIn
        self.moneyOut = moneyOut
        self.payments = payments
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case moneyIn = "money_in"
        case moneyOut = "money_out"
        case payments
    }
}

/// GET /analytics/counterparties.
public struct AnalyticsCounterparties: Codable, Sendable, Hashable {
    /// First day, yyyy-MM-dd, Lagos.
    public var from: String
    /// Last day, yyyy-MM-dd, Lagos.
    public var to: String
    /// `in` or `out`: what they are sorted by.
    public var direction: String
    /// Most money that way first.
    public var data: [AnalyticsCounterparty]

    /// Puts the values together.
    public init(from: String, to: String, direction: String, data: [AnalyticsCounterparty]) {
        self.from = from
        self.to = to
        self.direction = direction
        self.data = data
    }
}

/// PUT /analytics/transactions/{id}/category.
public struct CategoryRequest: Codable, Sendable, Hashable {
    /// What it was for.
    public var category: String

    /// Puts the values together.
    public init(category: String) {
        self.category = category
    }
}

/// GET, PUT and DELETE /analytics/transactions/{id}/category.
public struct CategoryResource: Codable, Sendable, Hashable {
    /// The transfer.
    public var transactionID: UUID
    /// What counts.
    public var category: String
    /// What was found without the user.
    public var automaticCategory: String
    /// Whether the user has chosen.
    public var isChosen: Bool

    /// Puts the values together.
    public init(transactionID: UUID, category: String, automaticCategory: String, isChosen: Bool) {
        self.transactionID = transactionID
        self.category = category
        self.automaticCategory = automaticCategory
        self.isChosen = isChosen
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case category
        case automaticCategory = "automatic_category"
        case isChosen = "is_chosen"
    }
}
