public import Logging

/// A log value that its author vouches for: it is no personal data, no secret and no payload.
public struct SafeLogValue: CustomStringConvertible, Sendable {
    /// The text.
    public let description: String
}

extension Logger.MetadataValue {
    /// Marks a value as fit for the log whatever its key is.
    public static func safe(_ value: some CustomStringConvertible) -> Logger.MetadataValue {
        .stringConvertible(SafeLogValue(description: value.description))
    }
}
