import Foundation

/// GET /subscriptions/status.
public struct SubscriptionStatus: Codable, Sendable, Hashable {
    /// `free`, `pending` while a first charge is under way, `active`, or `grace` while a renewal is not paid.
    public var status: String
    /// The plan.
    public var plan: String
    /// RFC 3339, UTC: what is paid.
    public var activeUntil: String?
    /// RFC 3339, UTC: the plan counts as active until then while its renewal is tried; nil when it will not be renewed.
    public var graceUntil: String?
    /// The plan of the next period; nil when the plan ends.
    public var renewsAs: String?
    /// First day of the month in Lagos.
    public var month: String
    /// Used this month.
    public var externalTransfersUsed: Int
    /// Nil: no limit.
    public var externalTransfersLimit: Int?
    /// The latest charge.
    public var lastCharge: SubscriptionCharge?

    /// Puts the values together.
    public init(
        status: String,
        plan: String,
        activeUntil: String? = nil,
        graceUntil: String? = nil,
        renewsAs: String? = nil,
        month: String,
        externalTransfersUsed: Int,
        externalTransfersLimit: Int? = nil,
        lastCharge: SubscriptionCharge? = nil
    ) {
        self.status = status
        self.plan = plan
        self.activeUntil = activeUntil
        self.graceUntil = graceUntil
        self.renewsAs = renewsAs
        self.month = month
        self.externalTransfersUsed = externalTransfersUsed
        self.externalTransfersLimit = externalTransfersLimit
        self.lastCharge = lastCharge
    }

    private enum CodingKeys: String, CodingKey {
        case status
        case plan
        case activeUntil = "active_until"
        case graceUntil = "grace_until"
        case renewsAs = "renews_as"
        case month
        case externalTransfersUsed = "external_transfers_used"
        case externalTransfersLimit = "external_transfers_limit"
        case lastCharge = "last_charge"
    }
}

/// How a charge stands.
public struct SubscriptionCharge: Codable, Sendable, Hashable {
    /// `pending`, `paid` or `refused`.
    public var status: String
    /// The plan.
    public var plan: String
    /// Kobo.
    public var amount: Int64
    /// Why it was refused.
    public var reason: String?
    /// RFC 3339, UTC.
    public var requestedAt: String
    /// RFC 3339, UTC; nil while it is pending.
    public var decidedAt: String?
    /// The transaction that paid it.
    public var transactionID: UUID?

    /// Puts the values together.
    public init(
        status: String,
        plan: String,
        amount: Int64,
        reason: String? = nil,
        requestedAt: String,
        decidedAt: String? = nil,
        transactionID: UUID? = nil
    ) {
        self.status = status
        self.plan = plan
        self.amount = amount
        self.reason = reason
        self.requestedAt = requestedAt
        self.decidedAt = decidedAt
        self.transactionID = transactionID
    }

    private enum CodingKeys: String, CodingKey {
        case status
        case plan
        case amount
        case reason
        case requestedAt = "requested_at"
        case decidedAt = "decided_at"
        case transactionID = "transaction_id"
    }
}

/// POST /subscriptions.
public struct SubscriptionRequest: Codable, Sendable, Hashable {
    /// A plan that is sold.
    public var plan: String
    /// Kobo, as the person saw it; the request is refused when it has changed since.
    public var price: Int64?

    /// Puts the values together.
    public init(plan: String, price: Int64? = nil) {
        self.plan = plan
        self.price = price
    }
}

/// What plans include.
public enum PlanAllowance {
    /// Transfers to the bank a month without a paid plan; a paid one has no limit.
    public static let freeExternalTransfers = 5
    /// Bank accounts without a paid plan.
    public static let freeBeneficiaries = 1
    /// Bank accounts with a paid plan.
    public static let paidBeneficiaries = 20
}

/// A plan that can be had.
public struct PlanResource: Codable, Sendable, Hashable {
    /// Its name.
    public var plan: String
    /// Kobo a month.
    public var price: Int64
    /// Transfers to the bank that it includes a month; nil: no limit.
    public var externalTransfersLimit: Int?
    /// Bank accounts that can be kept.
    public var beneficiaryLimit: Int

    /// Puts the values together.
    public init(plan: String, price: Int64, externalTransfersLimit: Int? = nil, beneficiaryLimit: Int) {
        self.plan = plan
        self.price = price
        self.externalTransfersLimit = externalTransfersLimit
        self.beneficiaryLimit = beneficiaryLimit
    }

    private enum CodingKeys: String, CodingKey {
        case plan
        case price
        case externalTransfersLimit = "external_transfers_limit"
        case beneficiaryLimit = "beneficiary_limit"
    }
}

/// GET /subscriptions/plans.
public struct PlanList: Codable, Sendable, Hashable {
    /// The free one first, then by price.
    public var data: [PlanResource]

    /// Puts the values together.
    public init(data: [PlanResource]) { self.data = data }
}
