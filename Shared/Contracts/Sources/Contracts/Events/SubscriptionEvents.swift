import Foundation

/// A plan is active.
///
/// Published by subscription.
public struct SubscriptionActivated: EventData {
    /// `subscription.activated`.
    public static let type: EventType = "subscription.activated"

    /// The person or business.
    public var userID: UUID
    /// The plan.
    public var plan: String
    /// RFC 3339, UTC: what is paid.
    public var activeUntil: String
    /// RFC 3339, UTC: counts as active until then, unless said otherwise; nil when it will not be renewed.
    public var graceUntil: String?

    /// Puts the values together.
    public init(userID: UUID, plan: String, activeUntil: String, graceUntil: String? = nil) {
        self.userID = userID
        self.plan = plan
        self.activeUntil = activeUntil
        self.graceUntil = graceUntil
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
        case activeUntil = "active_until"
        case graceUntil = "grace_until"
    }
}

/// The next period of a plan is paid.
///
/// Published by subscription.
public struct SubscriptionRenewed: EventData {
    /// `subscription.renewed`.
    public static let type: EventType = "subscription.renewed"

    /// The person or business.
    public var userID: UUID
    /// The plan of the new period.
    public var plan: String
    /// RFC 3339, UTC: what is paid.
    public var activeUntil: String
    /// RFC 3339, UTC: counts as active until then, unless said otherwise; nil when it will not be renewed.
    public var graceUntil: String?

    /// Puts the values together.
    public init(userID: UUID, plan: String, activeUntil: String, graceUntil: String? = nil) {
        self.userID = userID
        self.plan = plan
        self.activeUntil = activeUntil
        self.graceUntil = graceUntil
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
        case activeUntil = "active_until"
        case graceUntil = "grace_until"
    }
}

/// A plan will not be renewed; what is paid stays active.
///
/// Published by subscription.
public struct SubscriptionCancelled: EventData {
    /// `subscription.cancelled`.
    public static let type: EventType = "subscription.cancelled"

    /// The person or business.
    public var userID: UUID
    /// The plan.
    public var plan: String
    /// RFC 3339, UTC: what is paid.
    public var activeUntil: String

    /// Puts the values together.
    public init(userID: UUID, plan: String, activeUntil: String) {
        self.userID = userID
        self.plan = plan
        self.activeUntil = activeUntil
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
        case activeUntil = "active_until"
    }
}

/// A plan is no longer active.
///
/// Published by subscription.
public struct SubscriptionLapsed: EventData {
    /// `subscription.lapsed`.
    public static let type: EventType = "subscription.lapsed"

    /// The person or business.
    public var userID: UUID
    /// The plan.
    public var plan: String

    /// Puts the values together.
    public init(userID: UUID, plan: String) {
        self.userID = userID
        self.plan = plan
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case plan
    }
}

/// The count of free external transfers is to be corrected.
///
/// Published by subscription.
public struct UsageAdjusted: EventData {
    /// `usage.adjusted`.
    public static let type: EventType = "usage.adjusted"

    /// The person or business.
    public var userID: UUID
    /// Unique; applied once.
    public var adjustmentID: UUID
    /// The month in Lagos, yyyy-MM.
    public var month: String
    /// Added to the count.
    public var delta: Int

    /// Puts the values together.
    public init(userID: UUID, adjustmentID: UUID, month: String, delta: Int) {
        self.userID = userID
        self.adjustmentID = adjustmentID
        self.month = month
        self.delta = delta
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case adjustmentID = "adjustment_id"
        case month
        case delta
    }
}
