import Foundation

/// The first PIN was chosen, by somebody who had just signed in.
///
/// Published by auth.
public struct PINSet: EventData {
    /// `pin.set`.
    public static let type: EventType = "pin.set"

    /// The person or business.
    public var userID: UUID
    /// Names this PIN.
    public var setID: UUID
    /// RFC 3339, UTC; what a PIN approves has a lower limit on the first day from here.
    public var setAt: String

    /// Puts the values together.
    public init(userID: UUID, setID: UUID, setAt: String) {
        self.userID = userID
        self.setID = setID
        self.setAt = setAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case setID = "set_id"
        case setAt = "set_at"
    }
}

/// Too many wrong PINs were sent: none is looked at for a while.
///
/// Published by auth.
public struct PINLocked: EventData {
    /// `pin.locked`.
    public static let type: EventType = "pin.locked"

    /// The person or business.
    public var userID: UUID
    /// Names this lockout.
    public var lockID: UUID
    /// RFC 3339, UTC; the end of the lockout.
    public var lockedUntil: String

    /// Puts the values together.
    public init(userID: UUID, lockID: UUID, lockedUntil: String) {
        self.userID = userID
        self.lockID = lockID
        self.lockedUntil = lockedUntil
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case lockID = "lock_id"
        case lockedUntil = "locked_until"
    }
}

/// A session at the identity provider is over: its person signed out, or somebody ended it for them.
///
/// Published by auth.
public struct SessionEnded: EventData {
    /// `session.ended`.
    public static let type: EventType = "session.ended"

    /// The person or business.
    public var userID: UUID
    /// The identity provider's id of the session, `sid` of its tokens.
    public var sessionID: String
    /// RFC 3339, UTC.
    public var endedAt: String

    /// Puts the values together.
    public init(userID: UUID, sessionID: String, endedAt: String) {
        self.userID = userID
        self.sessionID = sessionID
        self.endedAt = endedAt
    }

    private enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case sessionID = "session_id"
        case endedAt = "ended_at"
    }
}
