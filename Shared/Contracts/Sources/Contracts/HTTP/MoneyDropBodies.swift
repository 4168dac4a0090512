import Foundation

/// POST /money-drops.
public struct MoneyDropRequest: Codable, Sendable, Hashable {
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// RFC 3339; in the future, at most 31 days away.
    public var expiresAt: String
    /// At most 140 characters.
    public var title: String?
    /// 4 to 64 characters that claimants must know.
    public var password: String?
    /// The quote it was decided on: refused when that has expired or costs more by now.
    public var quoteID: String?

    /// Puts the values together.
    public init(
        amountPerClaim: Int64,
        slots: Int,
        expiresAt: String,
        title: String? = nil,
        password: String? = nil,
        quoteID: String? = nil
    ) {
        self.quoteID = quoteID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.expiresAt = expiresAt
        self.title = title
        self.password = password
    }

    private enum CodingKeys: String, CodingKey {
        case amountPerClaim = "amount_per_claim"
        case slots
        case expiresAt = "expires_at"
        case title
        case password
        case quoteID = "quote_id"
    }
}

/// The answer to POST /money-drops: the money is held, the drop opens when it has arrived in the pool.
public struct MoneyDropResponse: Codable, Sendable, Hashable {
    /// The transfer into the pool.
    public var transactionID: UUID
    /// `accepted`.
    public var status: String
    /// `internal`.
    public var route: String
    /// Kobo, of all slots together.
    public var amount: Int64
    /// Kobo.
    public var fee: Int64
    /// Stamp duty, kobo.
    public var duty: Int64
    /// The drop.
    public var moneyDropID: UUID
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// Whether claimants need a password.
    public var passwordRequired: Bool
    /// RFC 3339, UTC.
    public var expiresAt: String
    /// What to share.
    public var link: String
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
        moneyDropID: UUID,
        amountPerClaim: Int64,
        slots: Int,
        passwordRequired: Bool,
        expiresAt: String,
        link: String,
        createdAt: String
    ) {
        self.transactionID = transactionID
        self.status = status
        self.route = route
        self.amount = amount
        self.fee = fee
        self.duty = duty
        self.moneyDropID = moneyDropID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.passwordRequired = passwordRequired
        self.expiresAt = expiresAt
        self.link = link
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case transactionID = "transaction_id"
        case status
        case route
        case amount
        case fee
        case duty
        case moneyDropID = "money_drop_id"
        case amountPerClaim = "amount_per_claim"
        case slots
        case passwordRequired = "password_required"
        case expiresAt = "expires_at"
        case link
        case createdAt = "created_at"
    }
}

/// A drop as somebody who has its link sees it; its creator sees more.
public struct MoneyDropResource: Codable, Sendable, Hashable {
    /// The drop.
    public var id: UUID
    /// Who made it; nil when the profile is gone.
    public var creatorUsername: String?
    /// What the creator wrote.
    public var title: String?
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// Slots that can be claimed now.
    public var slotsLeft: Int
    /// `pending`, `open`, `ended` or `failed`.
    public var status: String
    /// `expired`, `ended`, `claimed`, `funding_failed` or `funding_reversed`.
    public var endReason: String?
    /// Whether claimants need a password.
    public var passwordRequired: Bool
    /// Whether the reader made it.
    public var isCreator: Bool
    /// The reader's own claim: `claimed` is on its way, `paid` has arrived; nil when there is none.
    public var claimStatus: String?
    /// Kobo claimed, on their way included; for the creator only.
    public var amountClaimed: Int64?
    /// Kobo that came back; for the creator only.
    public var amountRefunded: Int64?
    /// What to share.
    public var link: String
    /// RFC 3339, UTC.
    public var expiresAt: String
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        id: UUID,
        creatorUsername: String? = nil,
        title: String? = nil,
        amountPerClaim: Int64,
        slots: Int,
        slotsLeft: Int,
        status: String,
        endReason: String? = nil,
        passwordRequired: Bool,
        isCreator: Bool,
        claimStatus: String? = nil,
        amountClaimed: Int64? = nil,
        amountRefunded: Int64? = nil,
        link: String,
        expiresAt: String,
        createdAt: String
    ) {
        self.id = id
        self.creatorUsername = creatorUsername
        self.title = title
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.slotsLeft = slotsLeft
        self.status = status
        self.endReason = endReason
        self.passwordRequired = passwordRequired
        self.isCreator = isCreator
        self.claimStatus = claimStatus
        self.amountClaimed = amountClaimed
        self.amountRefunded = amountRefunded
        self.link = link
        self.expiresAt = expiresAt
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case id
        case creatorUsername = "creator_username"
        case title
        case amountPerClaim = "amount_per_claim"
        case slots
        case slotsLeft = "slots_left"
        case status
        case endReason = "end_reason"
        case passwordRequired = "password_required"
        case isCreator = "is_creator"
        case claimStatus = "claim_status"
        case amountClaimed = "amount_claimed"
        case amountRefunded = "amount_refunded"
        case link
        case expiresAt = "expires_at"
        case createdAt = "created_at"
    }
}

/// GET /money-drops.
public struct MoneyDropPage: Codable, Sendable, Hashable {
    /// Newest first.
    public var data: [MoneyDropResource]
    /// Opaque; nil on the last page.
    public var nextCursor: String?

    /// Puts the values together.
    public init(
        data: [MoneyDropResource],
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

/// POST /money-drops/{id}/claim.
public struct ClaimRequest: Codable, Sendable, Hashable {
    /// When the drop needs one.
    public var password: String?

    /// Puts the values together.
    public init(
        password: String? = nil
    ) {
        self.password = password
    }
}

/// The answer to POST /money-drops/{id}/claim: the slot is the reader's, the money is on its way.
public struct ClaimResponse: Codable, Sendable, Hashable {
    /// The drop.
    public var moneyDropID: UUID
    /// The transfer out of the pool.
    public var transactionID: UUID
    /// `accepted`.
    public var status: String
    /// Kobo.
    public var amount: Int64
    /// RFC 3339, UTC.
    public var createdAt: String

    /// Puts the values together.
    public init(
        moneyDropID: UUID,
        transactionID: UUID,
        status: String,
        amount: Int64,
        createdAt: String
    ) {
        self.moneyDropID = moneyDropID
        self.transactionID = transactionID
        self.status = status
        self.amount = amount
        self.createdAt = createdAt
    }

    private enum CodingKeys: String, CodingKey {
        case moneyDropID = "money_drop_id"
        case transactionID = "transaction_id"
        case status
        case amount
        case createdAt = "created_at"
    }
}

/// One claim, as the creator of the drop sees it.
public struct ClaimResource: Codable, Sendable, Hashable {
    /// Who claimed; nil when the profile is gone.
    public var username: String?
    /// Kobo.
    public var amount: Int64
    /// `claimed`, on its way, or `paid`, arrived.
    public var status: String
    /// RFC 3339, UTC.
    public var claimedAt: String

    /// Puts the values together.
    public init(
        username: String? = nil,
        amount: Int64,
        status: String,
        claimedAt: String
    ) {
        self.username = username
        self.amount = amount
        self.status = status
        self.claimedAt = claimedAt
    }

    private enum CodingKeys: String, CodingKey {
        case username
        case amount
        case status
        case claimedAt = "claimed_at"
    }
}

/// GET /money-drops/{id}/claims: all of them, a drop has at most 1,000 slots.
public struct ClaimList: Codable, Sendable, Hashable {
    /// In the order of claiming.
    public var data: [ClaimResource]

    /// Puts the values together.
    public init(
        data: [ClaimResource]
    ) {
        self.data = data
    }
}
