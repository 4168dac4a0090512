import CoreMetrics
import Cryptography
import EventLoops
import HTTPTypes
import Primitives
import Redis

/// Decides whether a request comes too soon after others.
///
/// A process always counts for itself; where there is Redis, it believes what all processes counted together. What this
/// process knows to be full is refused without asking, so a flood costs Redis nothing.
public final class RateLimiter: Sendable {
    /// A bucket that a request goes into, and how full it is then.
    struct Standing: Sendable {
        let policy: RatePolicy
        let limit: RateLimit
        /// How many more requests fit.
        let remaining: Int
        /// In how many nanoseconds the bucket will be empty.
        let emptyIn: Int64
    }

    /// A request that is refused.
    struct Refusal: Error {
        let standing: Standing
        /// How long until a request fits, in nanoseconds.
        let wait: Int64
    }

    private let settings: RateLimitSettings
    private let local: LocalBuckets
    private let shared: SharedBuckets?
    private let now: @Sendable () -> Int64
    private let refusals: [RatePolicy: any CounterHandler]
    private let alone: any CounterHandler

    init(
        settings: RateLimitSettings,
        shared: SharedBuckets? = nil,
        local: LocalBuckets = LocalBuckets(),
        metrics: PrometheusRegistry = PrometheusRegistry(),
        now: @escaping @Sendable () -> Int64 = RateLimiter.monotonic()
    ) {
        self.settings = settings
        self.local = local
        self.shared = shared
        self.now = now
        let counters = RatePolicy.allCases.map { policy in
            (policy, metrics.makeCounter(label: "rate_limit_refusals", dimensions: [("policy", policy.rawValue)]))
        }
        self.refusals = Dictionary(uniqueKeysWithValues: counters)
        self.alone = metrics.makeCounter(label: "rate_limit_counted_alone", dimensions: [])
    }

    /// Counts a request in all these buckets, or in none.
    ///
    /// - Returns: How full they are, those that have a limit.
    /// - Throws: `Refusal`, for the bucket that has the longest to wait.
    func count(_ keys: [RateKey]) async throws(Refusal) -> [Standing] {
        let buckets = keys.compactMap { key in self.settings.limit(of: key.policy).map { (key: key, limit: $0) } }
        guard !buckets.isEmpty else { return [] }
        let now = self.now()
        // What is full is refused here; what is not full here may be full elsewhere.
        let known = buckets.map { RateBucket.add(to: self.local.emptyAt($0.key), at: now, $0.limit) }
        try self.refuse(buckets, known, at: now)
        guard let shared = self.shared else { return try self.countAlone(buckets, at: now) }
        guard let answers = await shared.add(to: buckets) else {
            self.alone.increment(by: 1)
            return try self.countAlone(buckets, at: now)
        }
        // In all of them, or in none.
        let isCounted = answers.allSatisfy(\.hasRoom)
        let answered = self.now()
        let outcomes = zip(buckets, answers).map { bucket, answer in
            let own = self.local.learn(
                now + answer.emptyIn,
                for: bucket.key,
                at: answered,
                bucket.limit,
                isCounted: isCounted
            )
            let wait = max(1, answer.emptyIn + bucket.limit.interval - bucket.limit.window)
            return RateBucket.Outcome(
                isAllowed: answer.hasRoom && own.isAllowed,
                emptyAt: own.emptyAt,
                wait: answer.hasRoom ? own.wait : wait
            )
        }
        try self.refuse(buckets, outcomes, at: now)
        return Self.standings(buckets, outcomes, at: now)
    }

    /// Refuses what this process knows to be full, without counting it or asking anybody.
    func refuseIfFull(_ key: RateKey) throws(Refusal) {
        guard let limit = self.settings.limit(of: key.policy) else { return }
        let now = self.now()
        let known = RateBucket.add(to: self.local.emptyAt(key), at: now, limit)
        try self.refuse([(key: key, limit: limit)], [known], at: now)
    }

    private typealias Bucket = (key: RateKey, limit: RateLimit)

    private func countAlone(_ buckets: [Bucket], at now: Int64) throws(Refusal) -> [Standing] {
        let outcomes = buckets.map { self.local.add(to: $0.key, at: now, $0.limit) }
        try self.refuse(buckets, outcomes, at: now)
        return Self.standings(buckets, outcomes, at: now)
    }

    private func refuse(_ buckets: [Bucket], _ outcomes: [RateBucket.Outcome], at now: Int64) throws(Refusal) {
        let full = outcomes.indices.filter { !outcomes[$0].isAllowed }
        guard let worst = full.max(by: { outcomes[$0].wait < outcomes[$1].wait }) else { return }
        self.refusals[buckets[worst].key.policy]?.increment(by: 1)
        let standing = Self.standings([buckets[worst]], [outcomes[worst]], at: now)[0]
        throw Refusal(standing: standing, wait: outcomes[worst].wait)
    }

    private static func standings(
        _ buckets: [Bucket],
        _ outcomes: [RateBucket.Outcome],
        at now: Int64
    ) -> [Standing] {
        zip(buckets, outcomes).map { bucket, outcome in
            Standing(
                policy: bucket.key.policy,
                limit: bucket.limit,
                remaining: RateBucket.remaining(outcome.emptyAt, at: now, bucket.limit),
                emptyIn: max(0, outcome.emptyAt - now)
            )
        }
    }

    /// Nanoseconds since the limiter was made; a clock that nobody sets.
    static func monotonic() -> @Sendable () -> Int64 {
        let start = ContinuousClock.now
        return {
            let (seconds, attoseconds) = start.duration(to: .now).components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }
    }
}
