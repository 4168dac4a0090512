import EventLoops

/// The buckets of this process.
///
/// Bounded: of two generations of names the older one is dropped when the younger one is full, so what is forgotten has
/// not been used for longest. A request costs one short lock and no memory that grows.
final class LocalBuckets: Sendable {
    private struct Shard {
        var young: [RateKey: Int64] = [:]
        var old: [RateKey: Int64] = [:]

        subscript(key: RateKey) -> Int64? { self.young[key] ?? self.old[key] }

        mutating func keep(_ emptyAt: Int64, for key: RateKey, capacity: Int) {
            if self.young.count >= capacity, self.young[key] == nil {
                self.old = self.young
                self.young = [:]
            }
            self.young[key] = emptyAt
        }
    }

    /// How many names are kept at most, all shards together.
    static let defaultCapacity = 131_072
    private static let shardCount = 16

    private let shards: [Locked<Shard>]
    private let generation: Int

    init(capacity: Int = LocalBuckets.defaultCapacity) {
        self.shards = (0..<Self.shardCount).map { _ in Locked(Shard()) }
        self.generation = max(1, capacity / (2 * Self.shardCount))
    }

    /// When a bucket will be empty, as far as this process knows.
    func emptyAt(_ key: RateKey) -> Int64? { self.shard(key).withLock { $0[key] } }

    /// Puts a request into a bucket.
    func add(to key: RateKey, at now: Int64, _ limit: RateLimit) -> RateBucket.Outcome {
        self.shard(key).withLock { shard in
            let outcome = RateBucket.add(to: shard[key], at: now, limit)
            shard.keep(outcome.emptyAt, for: key, capacity: self.generation)
            return outcome
        }
    }

    /// Believes what somebody else counted, unless this process has counted more: it did so while nobody else could.
    ///
    /// - Parameters:
    ///   - emptyAt: When the bucket will be empty, as somebody else counted.
    ///   - key: The bucket.
    ///   - request: The request that was counted there, and is here too; nil when there was no room for it everywhere.
    /// - Returns: When the bucket will be empty.
    func learn(_ emptyAt: Int64, for key: RateKey, counting request: (now: Int64, limit: RateLimit)?) -> Int64 {
        self.shard(key).withLock { shard in
            let own = request.map { RateBucket.add(to: shard[key], at: $0.now, $0.limit).emptyAt } ?? shard[key]
            let later = max(emptyAt, own ?? emptyAt)
            shard.keep(later, for: key, capacity: self.generation)
            return later
        }
    }

    /// How many names are kept.
    var count: Int {
        self.shards.reduce(0) { sum, shard in sum + shard.withLock { $0.young.count + $0.old.count } }
    }

    private func shard(_ key: RateKey) -> Locked<Shard> {
        self.shards[Int(UInt(bitPattern: key.hashValue) % UInt(Self.shardCount))]
    }
}
