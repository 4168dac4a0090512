import Cryptography
import Primitives

/// A hash of something that people choose, such as a password, by which two requests can be compared and which nobody
/// who reads the database can search for: its key is in no database.
///
/// It changes with `INTERNAL_TOKEN`; while that is being replaced, `former` tells what was hashed with the other one.
public struct KeyedHash: Sendable {
    private let first: SymmetricKey
    private let others: [SymmetricKey]

    /// Takes the key that hashes, and those that have hashed before or will.
    init(_ first: SymmetricKey, others: [SymmetricKey] = []) {
        self.first = first
        self.others = others
    }

    /// The hash of a text: 64 hexadecimal digits.
    public func callAsFunction(_ text: String) -> String { Self.hash(text, self.first) }

    /// What the text's hash may be elsewhere, under the keys that do not hash here.
    public func former(_ text: String) -> [String] { self.others.map { Self.hash(text, $0) } }

    private static func hash(_ text: String, _ key: SymmetricKey) -> String {
        Hex.encode(Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)))
    }
}

extension KeyedHash: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "KeyedHash([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
