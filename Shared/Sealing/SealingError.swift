/// What went wrong with a key, a sealed value or a hash; never contains any of them.
public struct SealingError: Error, Hashable, CustomStringConvertible {
    /// The kinds of failure.
    public enum Code: String, Sendable {
        /// The text is not of the form it should have.
        case malformed
        /// The bytes are no key of this kind.
        case invalidKey
        /// Sealed under another key, for another user, field or schema, or changed since.
        case notAuthentic
        /// No master key with the id that the wrapped key names.
        case unknownMasterKey
        /// Too many PINs wait to be hashed; answer 429 or 503.
        case busy
        /// The caller was cancelled before its turn came.
        case cancelled
        /// The cryptographic library refused.
        case internalFailure
    }

    /// The kind of failure.
    public let code: Code
    /// What was being done, in words without data.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "\(self.code.rawValue): \(self.message)" }
}
