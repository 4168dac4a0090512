import Foundation

/// PUT /limits: lower limits that a person sets for themselves; nil is none.
public struct OwnLimits: Codable, Sendable, Hashable {
    /// Kobo.
    public var perTransfer: Int64?
    /// Kobo.
    public var perDay: Int64?
    /// Kobo.
    public var perMonth: Int64?

    /// Puts the values together.
    public init(
        perTransfer: Int64? = nil,
        perDay: Int64? = nil,
        perMonth: Int64? = nil
    ) {
        self.perTransfer = perTransfer
        self.perDay = perDay
        self.perMonth = perMonth
    }

    private enum CodingKeys: String, CodingKey {
        case perTransfer = "per_transfer"
        case perDay = "per_day"
        case perMonth = "per_month"
    }
}

/// GET /limits: what a person may send and hold.
public struct LimitsResource: Codable, Sendable, Hashable {
    /// The level of verification.
    public var tier: Int
    /// Kobo, of the level.
    public var perTransfer: Int64
    /// Kobo, of the level.
    public var perDay: Int64
    /// Kobo, of the level.
    public var perMonth: Int64
    /// Kobo the wallet may hold; nil: no ceiling.
    public var maximumBalance: Int64?
    /// Lower ones that the person has set.
    public var own: OwnLimits
    /// Kobo, in Lagos.
    public var sentToday: Int64
    /// Kobo, in Lagos.
    public var sentThisMonth: Int64

    /// Puts the values together.
    public init(
        tier: Int,
        perTransfer: Int64,
        perDay: Int64,
        perMonth: Int64,
        maximumBalance: Int64? = nil,
        own: OwnLimits,
        sentToday: Int64,
        sentThisMonth: Int64
    ) {
        self.tier = tier
        self.perTransfer = perTransfer
        self.perDay = perDay
        self.perMonth = perMonth
        self.maximumBalance = maximumBalance
        self.own = own
        self.sentToday = sentToday
        self.sentThisMonth = sentThisMonth
    }

    private enum CodingKeys: String, CodingKey {
        case tier
        case perTransfer = "per_transfer"
        case perDay = "per_day"
        case perMonth = "per_month"
        case maximumBalance = "maximum_balance"
        case own
        case sentToday = "sent_today"
        case sentThisMonth = "sent_this_month"
    }
}
