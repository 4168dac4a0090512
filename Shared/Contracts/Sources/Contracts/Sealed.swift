/// Personal data as it travels and rests: encrypted with the key of the person it is about.
///
/// Services that only pass it on store the text unopened.
public struct Sealed: Sendable, Hashable, Codable {
    /// The sealed text, see `Sealing`.
    public let text: String

    /// Wraps text that is sealed already.
    public init(_ text: String) { self.text = text }

    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        self.text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}
