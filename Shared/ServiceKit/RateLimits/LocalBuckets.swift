import EventLoops

/// The buckets of this process.
///
/// Bounded: of two generations of names the older one is dropped when the younger one is full, so what is forgotten has
/// not been used for longest. A request costs one short lock and no memory that grows.
final class LocalBuckets: Sendable {
    /// When a bucket will be empty, as this process has counted and as all have counted together.
    ///
    /// Apart, since answers to requests that went at once come in any order.
    private struct Filling {
        var own = Int64.min
        var shared = Int64.min

        var emptyAt: Int64 { max(self.own, self.shared) }
    }

    private struct Shard {
        var young: [RateKey: Filling] = [:]
        var old: [RateKey: Filling] = [:]

        subscript(key: RateKey) -> Filling? { self.young[key] ?? self.old[key] }

        mutating func keep(_ filling: Filling, for key: RateKey, capacity: Int) {
            if self.young.count >= capacity, self.young[key] == nil {
                self.old = self.young
                self.young = [:]
            }
            self.young[key] = filling
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
    func emptyAt(_ key: RateKey) -> Int64? { self.shard(key).withLock { $0[key]?.emptyAt } }

    /// Puts a request into a bucket that nobody else counts now.
    func add(to key: RateKey, at now: Int64, _ limit: RateLimit) -> RateBucket.Outcome {
        self.change(key) { filling in
            let outcome = RateBucket.add(to: filling.emptyAt, at: now, limit)
            filling.own = outcome.emptyAt
            return outcome
        }
    }

    /// Believes what all have counted together, unless this process has counted more: it did so while it was alone.
    ///
    /// - Parameters:
    ///   - emptyAt: When the bucket will be empty, as all have counted.
    ///   - key: The bucket.
    ///   - now: The time after the answer.
    ///   - limit: The limit of the bucket.
    ///   - isCounted: Whether the request was put into the bucket there, and is here too.
    /// - Returns: Whether there is room here too for what was counted, and when the bucket will be empty.
    func learn(
        _ emptyAt: Int64,
        for key: RateKey,
        at now: Int64,
        _ limit: RateLimit,
        isCounted: Bool
    ) -> RateBucket.Outcome {
        self.change(key) { filling in
            filling.shared = max(filling.shared, emptyAt)
            guard isCounted else { return RateBucket.Outcome(isAllowed: true, emptyAt: filling.emptyAt, wait: 0) }
            let own = RateBucket.add(to: filling.own, at: now, limit)
            filling.own = own.emptyAt
            return RateBucket.Outcome(isAllowed: own.isAllowed, emptyAt: filling.emptyAt, wait: own.wait)
        }
    }

    private func change(_ key: RateKey, _ body: (inout Filling) -> RateBucket.Outcome) -> RateBucket.Outcome {
        self.shard(key).withLock { shard in
            var filling = shard[key] ?? Filling()
            let outcome = body(&filling)
            shard.keep(filling, for: key, capacity: self.generation)
            return outcome
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
