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
    /// All that an order, a request or a claim can be refused for because there was enough of it.
    public var caps: [LimitCap]

    /// Puts the values together.
    public init(
        tier: Int,
        perTransfer: Int64,
        perDay: Int64,
        perMonth: Int64,
        maximumBalance: Int64? = nil,
        own: OwnLimits,
        sentToday: Int64,
        sentThisMonth: Int64,
        caps: [LimitCap]
    ) {
        self.tier = tier
        self.perTransfer = perTransfer
        self.perDay = perDay
        self.perMonth = perMonth
        self.maximumBalance = maximumBalance
        self.own = own
        self.sentToday = sentToday
        self.sentThisMonth = sentThisMonth
        self.caps = caps
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
        case caps
    }
}

/// Of what a person may do so much and no more: how much it is, and how much of it is left.
public struct LimitCap: Codable, Sendable, Hashable {
    /// The refusal's.
    public var code: String
    /// What is counted: `kobo`, `requests`, `declined_requests` or `passwords`.
    public var unit: String
    /// How much there may be.
    public var limit: Int64
    /// What counts towards it now.
    public var used: Int64
    /// What is not refused yet.
    public var left: Int64
    /// When it ends, or what was counted first counts no more; nil: time alone changes nothing.
    public var until: String?
    /// The device it is of; a cap of a device without one is that of a PIN that was reset.
    public var deviceID: UUID?
    /// The bank account it is of.
    public var beneficiaryID: UUID?
    /// Whom it is about.
    public var payerUsername: String?
    /// The drop it is of.
    public var moneyDropID: UUID?

    /// Puts the values together.
    public init(
        code: String,
        unit: String,
        limit: Int64,
        used: Int64,
        left: Int64,
        until: String? = nil,
        deviceID: UUID? = nil,
        beneficiaryID: UUID? = nil,
        payerUsername: String? = nil,
        moneyDropID: UUID? = nil
    ) {
        self.code = code
        self.unit = unit
        self.limit = limit
        self.used = used
        self.left = left
        self.until = until
        self.deviceID = deviceID
        self.beneficiaryID = beneficiaryID
        self.payerUsername = payerUsername
        self.moneyDropID = moneyDropID
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case unit
        case limit
        case used
        case left
        case until
        case deviceID = "device_id"
        case beneficiaryID = "beneficiary_id"
        case payerUsername = "payer_username"
        case moneyDropID = "money_drop_id"
    }
}
