import Cryptography
import EventLoops
import Foundation

/// SHA-256 of a token: the cache holds no token.
struct TokenDigest: Hashable, Sendable {
    private let words: [UInt8]

    init(_ token: String) {
        self.words = Array(SHA256.hash(data: Array(token.utf8)))
    }

    /// Picks a shard.
    var firstByte: Int { Int(self.words[0]) }
}

/// Tokens that were verified, until they expire.
///
/// Bounded, and sharded so that cores do not queue for one lock.
final class VerifiedTokenCache: Sendable {
    private struct Entry: Sendable {
        let identity: Identity
        let expiry: TimeInterval
    }

    private static let shardCount = 16
    private static let capacityPerShard = 1024

    private let shards: [Locked<[TokenDigest: Entry]>]

    init() {
        self.shards = (0..<Self.shardCount).map { _ in Locked([:]) }
    }

    func identity(of digest: TokenDigest, after moment: TimeInterval) -> Identity? {
        self.shard(of: digest).withLock { entries in
            guard let entry = entries[digest], entry.expiry > moment else { return nil }
            return entry.identity
        }
    }

    func keep(_ identity: Identity, of digest: TokenDigest, until expiry: TimeInterval, now: TimeInterval) {
        self.shard(of: digest).withLock { entries in
            if entries.count >= Self.capacityPerShard {
                entries = entries.filter { $0.value.expiry > now }
            }
            // Still full of live ones: start again rather than grow. They are verified once more, that is all.
            if entries.count >= Self.capacityPerShard {
                entries.removeAll(keepingCapacity: true)
            }
            entries[digest] = Entry(identity: identity, expiry: expiry)
        }
    }

    private func shard(of digest: TokenDigest) -> Locked<[TokenDigest: Entry]> {
        self.shards[digest.firstByte % Self.shardCount]
    }
}
