/// A value of an enumeration that may grow: a word this version does not know is kept, not refused.
public enum Open<Known: RawRepresentable & Sendable & Hashable>: Sendable, Hashable where Known.RawValue == String {
    /// A word this version knows.
    case known(Known)
    /// A word from a newer version, as it stood on the wire.
    case unknown(String)

    /// Reads a word.
    public init(_ text: String) {
        self = Known(rawValue: text).map(Open.known) ?? .unknown(text)
    }

    /// Wraps a known value.
    public init(_ value: Known) { self = .known(value) }

    /// The word as it stands on the wire.
    public var text: String {
        switch self {
        case .known(let value): value.rawValue
        case .unknown(let text): text
        }
    }

    /// The known value, or nil.
    public var value: Known? {
        guard case .known(let value) = self else { return nil }
        return value
    }
}

extension Open: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}
