import Crypto
import Primitives

/// A hash of something that people choose, such as a password, by which two requests can be compared and which nobody
/// who reads the database can search for: its key is in no database.
///
/// It changes with `INTERNAL_TOKEN`.
public struct KeyedHash: Sendable {
    private let key: SymmetricKey

    init(_ key: SymmetricKey) { self.key = key }

    /// The hash of a text: 64 hexadecimal digits.
    public func callAsFunction(_ text: String) -> String {
        Hex.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: self.key)))
    }
}

extension KeyedHash: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "KeyedHash([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
