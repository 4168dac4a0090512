import Cryptography
public import Foundation
import Primitives

/// A key from the environment that wraps the users' data keys.
public struct MasterKey: Sendable {
    /// The name of the key, part of everything it wraps: letters, digits, `-` and `_`, at most 32 of them.
    public let id: String
    private let key: SymmetricKey

    /// Takes a key.
    ///
    /// - Throws: `SealingError` with `invalidKey` for a bad id or another number of bytes than 32.
    public init(id: String, bytes: some Collection<UInt8>) throws(SealingError) {
        guard Self.isValid(id: id) else {
            throw SealingError(.invalidKey, "a master key's id is 1 to 32 letters, digits, - or _")
        }
        guard bytes.count == DataKey.byteCount else { throw SealingError(.invalidKey, "a master key has 32 bytes") }
        self.id = id
        self.key = SymmetricKey(data: Array(bytes))
    }

    /// Wraps the data key of `user`; only this master key opens it, and only for that user.
    public func wrap(_ dataKey: DataKey, for user: UUID) throws(SealingError) -> WrappedKey {
        let bytes = try AEAD.seal(dataKey.bytes, key: self.key, associated: self.associated(user))
        return WrappedKey(masterKeyID: self.id, bytes: bytes)
    }

    /// Opens a wrapped key.
    ///
    /// - Throws: `SealingError` with `unknownMasterKey` when another key wrapped it, `notAuthentic` when it was
    ///   wrapped for another user or changed.
    public func unwrap(_ wrapped: WrappedKey, for user: UUID) throws(SealingError) -> DataKey {
        guard wrapped.masterKeyID == self.id else {
            throw SealingError(.unknownMasterKey, "the data key was wrapped by another master key")
        }
        return try DataKey(bytes: try AEAD.open(wrapped.bytes, key: self.key, associated: self.associated(user)))
    }

    private func associated(_ user: UUID) -> [UInt8] {
        Array("transfa-data-key-1".utf8) + user.bytes + Array(self.id.utf8)
    }

    private static func isValid(id: String) -> Bool {
        (1...32).contains(id.utf8.count)
            && id.utf8.allSatisfy { unit in
                switch unit {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

extension MasterKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The id, not the secret.
    public var description: String { "MasterKey(\(self.id), [redacted])" }
    /// The id, not the secret.
    public var debugDescription: String { self.description }
    /// The id, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["id": self.id]) }
}
