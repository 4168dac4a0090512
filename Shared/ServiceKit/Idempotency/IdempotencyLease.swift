import Cryptography
import Foundation
import Primitives
import Redis

/// What Redis knows about a key: that a request is running, and a fast copy of its answer.
///
/// It decides nothing; every failure of Redis reads as "not known". A lease has one holder, who alone may end it and write
/// the copy: whoever lost it (paused, cut off, after a failover) can do neither.
struct IdempotencyLease: Sendable {
    /// Longer than the deadline of a request, so that a lease ends only by a crash.
    static let leaseMilliseconds: Int64 = 15_000
    /// How long the fast copy stays; the row stays 30 days.
    static let copySeconds: Int64 = 600
    /// A longer answer is not copied.
    static let maximumCopy = 16 * 1024
    /// The longest that a request waits for Redis.
    static let patience = Duration.milliseconds(250)

    /// What was found.
    enum Finding: Sendable, Equatable {
        /// Nobody else runs; ours to run, until `release`.
        case mine(token: String)
        case running
        case answered(StoredAnswer)
        /// Redis does not answer.
        case unknown
    }

    private let redis: PatientRedis

    init(_ redis: RedisClient) { self.redis = PatientRedis(redis, patience: Self.patience) }

    private static let take = RedisScript(
        """
        local copy = redis.call('GET', KEYS[2])
        if copy then return {'answered', copy} end
        if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return {'mine'} end
        return {'running'}
        """
    )

    private static let keep = RedisScript(
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        redis.call('SET', KEYS[2], ARGV[2], 'EX', ARGV[3])
        return redis.call('DEL', KEYS[1])
        """
    )

    private static let release = RedisScript(
        """
        if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
    )

    /// The copy, or the lease if nobody has it.
    func take(_ scope: IdempotencyScope) async -> Finding {
        let token = UUID().uuidString
        let arguments: [RedisArgument] = [.text(token), .number(Self.leaseMilliseconds)]
        let reply = await self.redis.run(Self.take, keys: Self.names(scope), arguments)
        guard let parts = reply?.elements, let word = parts.first?.text else { return .unknown }
        switch word {
        case "mine": return .mine(token: token)
        case "running": return .running
        default: return parts.last?.text.flatMap { StoredAnswer(text: $0) }.map(Finding.answered) ?? .unknown
        }
    }

    /// Keeps a copy of the answer and ends the lease; nothing happens when it is no longer ours.
    func keep(_ answer: StoredAnswer, for scope: IdempotencyScope, token: String) async {
        let text = answer.text
        guard text.utf8.count <= Self.maximumCopy else { return await self.release(scope, token: token) }
        let arguments: [RedisArgument] = [.text(token), .text(text), .number(Self.copySeconds)]
        _ = await self.redis.run(Self.keep, keys: Self.names(scope), arguments)
    }

    /// Ends the lease; nothing happens when it is no longer ours.
    func release(_ scope: IdempotencyScope, token: String) async {
        _ = await self.redis.run(Self.release, keys: [Self.names(scope)[0]], [.text(token)])
    }

    /// Of the lease and of the copy, hashed: keys are chosen by clients and may be long.
    private static func names(_ scope: IdempotencyScope) -> [String] {
        let text = "\(scope.user.uuid.lowercased)|\(scope.route)|\(scope.key.text)"
        let digest = Hex.encode(Array(SHA256.hash(data: Array(text.utf8))))
        return ["idem:lease:\(digest)", "idem:copy:\(digest)"]
    }
}
