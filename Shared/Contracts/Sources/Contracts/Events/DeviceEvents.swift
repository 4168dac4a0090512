import Foundation

/// A device key may approve payments.
///
/// Published by auth.
public struct DeviceRegistered: EventData {
    /// `device.registered`.
    public static let type: EventType = "device.registered"

    /// The person or business.
    public var userID: UUID
    /// The device.
    public var deviceID: UUID
    /// P-256 public key, X9.63 uncompressed, base64url.
    public var publicKey: String
    /// RFC 3339, UTC; the first day has a lower limit.
    public var activatedAt: String

    /// Puts the values together.
    public init(userID: UUID, deviceID: UUID, publicKey: String, activatedAt: String) {
        self.userID = userID
        self.deviceID = deviceID
        self.publicKey = publicKey
        self.activatedAt = activatedAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case deviceID = "device_id"
        case publicKey = "public_key"
        case activatedAt = "activated_at"
    }
}

/// A device key no longer approves anything.
///
/// Published by auth.
public struct DeviceRevoked: EventData {
    /// `device.revoked`.
    public static let type: EventType = "device.revoked"

    /// The person or business.
    public var userID: UUID
    /// The device.
    public var deviceID: UUID
    /// RFC 3339, UTC.
    public var revokedAt: String

    /// Puts the values together.
    public init(userID: UUID, deviceID: UUID, revokedAt: String) {
        self.userID = userID
        self.deviceID = deviceID
        self.revokedAt = revokedAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case deviceID = "device_id"
        case revokedAt = "revoked_at"
    }
}

/// The PIN was replaced without the old one, by somebody who had just signed in.
///
/// Published by auth.
public struct PINReset: EventData {
    /// `pin.reset`.
    public static let type: EventType = "pin.reset"

    /// The person or business.
    public var userID: UUID
    /// Names this reset.
    public var resetID: UUID
    /// RFC 3339, UTC; what a PIN approves has a lower limit on the first day from here.
    public var resetAt: String

    /// Puts the values together.
    public init(userID: UUID, resetID: UUID, resetAt: String) {
        self.userID = userID
        self.resetID = resetID
        self.resetAt = resetAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case resetID = "reset_id"
        case resetAt = "reset_at"
    }
}

/// The PIN was replaced by somebody who knew the old one.
///
/// Published by auth.
public struct PINChanged: EventData {
    /// `pin.changed`.
    public static let type: EventType = "pin.changed"

    /// The person or business.
    public var userID: UUID
    /// Names this change.
    public var changeID: UUID
    /// RFC 3339, UTC.
    public var changedAt: String

    /// Puts the values together.
    public init(userID: UUID, changeID: UUID, changedAt: String) {
        self.userID = userID
        self.changeID = changeID
        self.changedAt = changedAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case changeID = "change_id"
        case changedAt = "changed_at"
    }
}
