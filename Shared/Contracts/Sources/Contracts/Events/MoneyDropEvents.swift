import Foundation

/// The money of a drop has arrived: it can be claimed.
///
/// Published by transaction.
public struct MoneyDropOpened: EventData {
    /// `money_drop.opened`.
    public static let type: EventType = "money_drop.opened"

    /// The drop.
    public var moneyDropID: UUID
    /// Who made it.
    public var creatorID: UUID
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// RFC 3339, UTC.
    public var expiresAt: String
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        moneyDropID: UUID,
        creatorID: UUID,
        amountPerClaim: Int64,
        slots: Int,
        expiresAt: String,
        timestamp: String
    ) {
        self.moneyDropID = moneyDropID
        self.creatorID = creatorID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.expiresAt = expiresAt
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case moneyDropID = "money_drop_id"
        case creatorID = "creator_id"
        case amountPerClaim = "amount_per_claim"
        case slots
        case expiresAt = "expires_at"
        case timestamp
    }
}

/// A claim has arrived in the claimant's wallet.
///
/// Published by transaction.
public struct MoneyDropClaimed: EventData {
    /// `money_drop.claimed`.
    public static let type: EventType = "money_drop.claimed"

    /// The drop.
    public var moneyDropID: UUID
    /// Who made it.
    public var creatorID: UUID
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// Who got it.
    public var claimantID: UUID
    /// The transfer that paid it.
    public var transactionID: UUID
    /// Claims paid so far, this one included.
    public var claimed: Int
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        moneyDropID: UUID,
        creatorID: UUID,
        amountPerClaim: Int64,
        slots: Int,
        claimantID: UUID,
        transactionID: UUID,
        claimed: Int,
        timestamp: String
    ) {
        self.moneyDropID = moneyDropID
        self.creatorID = creatorID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.claimantID = claimantID
        self.transactionID = transactionID
        self.claimed = claimed
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case moneyDropID = "money_drop_id"
        case creatorID = "creator_id"
        case amountPerClaim = "amount_per_claim"
        case slots
        case claimantID = "claimant_id"
        case transactionID = "transaction_id"
        case claimed
        case timestamp
    }
}

/// Nobody can claim any more; what is left goes back.
///
/// Published by transaction.
public struct MoneyDropEnded: EventData {
    /// `money_drop.ended`.
    public static let type: EventType = "money_drop.ended"

    /// The drop.
    public var moneyDropID: UUID
    /// Who made it.
    public var creatorID: UUID
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// Why.
    public var reason: Open<MoneyDropEnd>
    /// Claims made, those still on their way included.
    public var claimed: Int
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        moneyDropID: UUID,
        creatorID: UUID,
        amountPerClaim: Int64,
        slots: Int,
        reason: Open<MoneyDropEnd>,
        claimed: Int,
        timestamp: String
    ) {
        self.moneyDropID = moneyDropID
        self.creatorID = creatorID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.reason = reason
        self.claimed = claimed
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case moneyDropID = "money_drop_id"
        case creatorID = "creator_id"
        case amountPerClaim = "amount_per_claim"
        case slots
        case reason
        case claimed
        case timestamp
    }
}

/// What was left of a drop has arrived at its creator.
///
/// Published by transaction.
public struct MoneyDropRefunded: EventData {
    /// `money_drop.refunded`.
    public static let type: EventType = "money_drop.refunded"

    /// The drop.
    public var moneyDropID: UUID
    /// Who made it.
    public var creatorID: UUID
    /// Kobo that each claimant gets.
    public var amountPerClaim: Int64
    /// How many may claim.
    public var slots: Int
    /// The transfer that brought it.
    public var transactionID: UUID
    /// Kobo.
    public var amount: Int64
    /// RFC 3339, UTC.
    public var timestamp: String

    /// Puts the values together.
    public init(
        moneyDropID: UUID,
        creatorID: UUID,
        amountPerClaim: Int64,
        slots: Int,
        transactionID: UUID,
        amount: Int64,
        timestamp: String
    ) {
        self.moneyDropID = moneyDropID
        self.creatorID = creatorID
        self.amountPerClaim = amountPerClaim
        self.slots = slots
        self.transactionID = transactionID
        self.amount = amount
        self.timestamp = timestamp
    }

    private enum CodingKeys: String, CodingKey {
        case moneyDropID = "money_drop_id"
        case creatorID = "creator_id"
        case amountPerClaim = "amount_per_claim"
        case slots
        case transactionID = "transaction_id"
        case amount
        case timestamp
    }
}
