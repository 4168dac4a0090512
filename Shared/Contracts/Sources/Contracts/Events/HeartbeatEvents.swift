import Foundation

/// The auth service is alive and has published all it knows.
///
/// Published by auth.
public struct AuthHeartbeat: EventData {
    /// `auth.heartbeat`.
    public static let type: EventType = "auth.heartbeat"

    /// RFC 3339, UTC.
    public var at: String

    /// Puts the values together.
    public init(at: String) {
        self.at = at
    }
}

/// The customer service is alive and has published all it knows.
///
/// Published by customer.
public struct CustomerHeartbeat: EventData {
    /// `customer.heartbeat`.
    public static let type: EventType = "customer.heartbeat"

    /// RFC 3339, UTC.
    public var at: String

    /// Puts the values together.
    public init(at: String) {
        self.at = at
    }
}

/// The subscription service is alive and has published all it knows.
///
/// Published by subscription.
public struct SubscriptionHeartbeat: EventData {
    /// `subscription.heartbeat`.
    public static let type: EventType = "subscription.heartbeat"

    /// RFC 3339, UTC.
    public var at: String

    /// Puts the values together.
    public init(at: String) {
        self.at = at
    }
}
