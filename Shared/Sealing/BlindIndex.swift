import Cryptography
import Primitives

/// Keyed hashes by which sealed values can be found: equal values of one field give equal hashes.
///
/// The caller normalises first (case, spaces, country code). Its text forms show nothing.
public struct BlindIndex: Sendable {
    private let key: SymmetricKey

    /// Takes the key, 32 bytes from the environment.
    ///
    /// - Throws: `SealingError` with `invalidKey` for another length.
    public init(key: some Collection<UInt8>) throws(SealingError) {
        guard key.count == 32 else { throw SealingError(.invalidKey, "a blind index key has 32 bytes") }
        self.key = SymmetricKey(data: Array(key))
    }

    /// The hash of a value: 64 hexadecimal digits.
    ///
    /// Another field gives another hash for the same value.
    public func index(_ field: String, _ value: String) -> String {
        var code = HMAC<SHA256>(key: self.key)
        let name = Array(field.utf8)
        // The length first, so that field "ab" with value "c" differs from field "a" with value "bc".
        code.update(data: Array("transfa-index-1:\(name.count):".utf8))
        code.update(data: name)
        code.update(data: Array(value.utf8))
        return Hex.encode(Array(code.finalize()))
    }
}

extension BlindIndex: CustomStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "BlindIndex([redacted])" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
