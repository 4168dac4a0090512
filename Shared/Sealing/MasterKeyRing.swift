public import Foundation
import Primitives

/// Several master keys for rotation: the first one wraps, all of them open.
///
/// To rotate, put the new key in front, wrap anew what `formerIDs` have wrapped, then take the old key away.
public struct MasterKeyRing: Sendable {
    private let first: MasterKey
    private let byID: [String: MasterKey]

    /// The ids of the keys that open and no longer wrap: what they have wrapped is to be wrapped anew.
    public var formerIDs: [String] { self.byID.keys.filter { $0 != self.first.id }.sorted() }

    /// The ids of all keys; the one that wraps comes first.
    public var ids: [String] { [self.first.id] + self.formerIDs }

    /// Makes a ring.
    ///
    /// - Throws: `SealingError` with `invalidKey` when there is no key or two have the same id.
    public init(_ keys: [MasterKey]) throws(SealingError) {
        guard let first = keys.first else { throw SealingError(.invalidKey, "at least one master key is needed") }
        self.first = first
        self.byID = Dictionary(keys.map { ($0.id, $0) }, uniquingKeysWith: { one, _ in one })
        guard self.byID.count == keys.count else {
            throw SealingError(.invalidKey, "two master keys have the same id")
        }
    }

    /// Reads a ring from its configuration text `id:base64,id:base64` (either base64 alphabet, 32 bytes each).
    ///
    /// - Throws: `SealingError` with `malformed` or `invalidKey`; the message names the position, never the text.
    public init(text: String) throws(SealingError) {
        var keys: [MasterKey] = []
        for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
            let pair = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard pair.count == 2, let bytes = Self.bytes(pair[1].trimmingCharacters(in: .whitespaces)) else {
                throw SealingError(.malformed, "master key \(index + 1) is not of the form id:base64")
            }
            keys.append(try MasterKey(id: pair[0].trimmingCharacters(in: .whitespaces), bytes: bytes))
        }
        try self.init(keys)
    }

    /// Wraps the data key of `user` with the first master key.
    public func wrap(_ dataKey: DataKey, for user: UUID) throws(SealingError) -> WrappedKey {
        try self.first.wrap(dataKey, for: user)
    }

    /// Opens a wrapped key with the master key that it names.
    ///
    /// - Throws: `SealingError` with `unknownMasterKey` when the ring does not have it.
    public func unwrap(_ wrapped: WrappedKey, for user: UUID) throws(SealingError) -> DataKey {
        guard let key = self.byID[wrapped.masterKeyID] else {
            throw SealingError(.unknownMasterKey, "the data key was wrapped by a master key that is not configured")
        }
        return try key.unwrap(wrapped, for: user)
    }

    /// Whether a wrapped key should be wrapped anew because its master key is not the first one.
    public func needsRewrap(_ wrapped: WrappedKey) -> Bool { wrapped.masterKeyID != self.first.id }

    private static func bytes(_ text: String) -> [UInt8]? {
        Data(base64Encoded: text).map(Array.init) ?? Base64URL.decode(text)
    }
}

extension MasterKeyRing: CustomStringConvertible, CustomReflectable {
    /// The ids, not the secrets.
    public var description: String { "MasterKeyRing(\(self.byID.keys.sorted().joined(separator: ", ")))" }
    /// No children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
