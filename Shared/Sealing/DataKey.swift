import Cryptography

/// The key of one user's personal data: 256 bits, owned by `auth`.
///
/// Hold it in memory for minutes only and never store it unwrapped. Its text forms show nothing.
public struct DataKey: Sendable, Equatable {
    /// The length of every key.
    public static let byteCount = 32

    let key: SymmetricKey

    /// Makes a new random key.
    public init() { self.key = SymmetricKey(size: .bits256) }

    /// Takes the bytes of a key.
    ///
    /// - Throws: `SealingError` with `invalidKey` unless there are 32 of them.
    public init(bytes: some Collection<UInt8>) throws(SealingError) {
        guard bytes.count == Self.byteCount else { throw SealingError(.invalidKey, "a data key has 32 bytes") }
        self.key = SymmetricKey(data: Array(bytes))
    }

    /// The secret itself, for the internal port that hands it to another service and for nothing else.
    public var bytes: [UInt8] { self.key.bytes }

    /// Whether both are the same key, in constant time.
    public static func == (left: DataKey, right: DataKey) -> Bool { left.key == right.key }
}

extension DataKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A word instead of the secret.
    public var description: String { "DataKey([redacted])" }
    /// A word instead of the secret.
    public var debugDescription: String { self.description }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
