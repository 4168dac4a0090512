/// The name of a kind of event, such as `transaction.completed`.
public struct EventType: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
    /// The name as it stands in the envelope.
    public let rawValue: String

    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Wraps a name.
    public init(stringLiteral value: String) { self.rawValue = value }
}

/// The data of one kind of event.
public protocol EventData: Codable, Sendable, Equatable {
    /// The kind.
    static var type: EventType { get }
    /// Changes when consumers of the previous form can no longer read it; additions keep it.
    static var majorVersion: Int { get }
}

extension EventData {
    /// 1, until a kind of event says otherwise.
    public static var majorVersion: Int { 1 }
}
