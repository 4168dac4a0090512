/// GET /subscriptions/status.
public struct SubscriptionStatus: Codable, Sendable, Hashable {
    /// `free` or `active`.
    public var status: String
    /// The plan.
    public var plan: String
    /// RFC 3339, UTC.
    public var activeUntil: String?
    /// First day of the month in Lagos.
    public var month: String
    /// Used this month.
    public var externalTransfersUsed: Int
    /// Nil: no limit.
    public var externalTransfersLimit: Int?

    /// Puts the values together.
    public init(
        status: String,
        plan: String,
        activeUntil: String? = nil,
        month: String,
        externalTransfersUsed: Int,
        externalTransfersLimit: Int? = nil
    ) {
        self.status = status
        self.plan = plan
        self.activeUntil = activeUntil
        self.month = month
        self.externalTransfersUsed = externalTransfersUsed
        self.externalTransfersLimit = externalTransfersLimit
    }

    private enum CodingKeys: String, CodingKey {
        case status
        case plan
        case activeUntil = "active_until"
        case month
        case externalTransfersUsed = "external_transfers_used"
        case externalTransfersLimit = "external_transfers_limit"
    }
}
