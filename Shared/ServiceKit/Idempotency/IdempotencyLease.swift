import Cryptography
import Foundation
import Primitives
import Redis

/// What Redis knows about a key: that a request is running, and a fast copy of its answer.
///
/// It decides nothing; every failure of Redis reads as "not known". A lease has one holder, who alone may end it and write
/// the copy: whoever lost it (paused, cut off, after a failover) can do neither.
struct IdempotencyLease: Sendable {
    /// Longer than nearly all requests take; whoever takes longer loses it, and the row decides.
    static let leaseMilliseconds: Int64 = 15_000
    /// How long the fast copy stays; the row stays 30 days.
    static let copySeconds: Int64 = 600
    /// A longer answer is not copied.
    static let maximumCopy = 16 * 1024
    /// The longest that a request waits for Redis.
    static let patience = Duration.milliseconds(250)

    /// Where the lease and the copy of a key are: of one history of the database, so that a copy of what a restore or a
    /// failover has undone is never found.
    struct Names: Sendable, Equatable {
        let lease: String
        let copy: String

        init(lease: String, copy: String) {
            self.lease = lease
            self.copy = copy
        }

        /// Hashed: keys are chosen by clients and may be long.
        init(_ scope: IdempotencyScope, in epoch: String) {
            let text = "\(epoch)|\(scope.user.uuid.lowercased)|\(scope.route)|\(scope.key.text)"
            let digest = Hex.encode(Array(SHA256.hash(data: Array(text.utf8))))
            self.lease = "idem:lease:\(digest)"
            self.copy = "idem:copy:\(digest)"
        }
    }

    /// A lease that is ours.
    struct Hold: Sendable, Equatable {
        let names: Names
        let token: String
    }

    /// What was found.
    enum Finding: Sendable, Equatable {
        /// Nobody else runs; ours to run, until `release`.
        case mine(Hold)
        case running
        case answered(StoredAnswer)
        /// Redis does not answer.
        case unknown
    }

    private let redis: PatientRedis
    private let seal: CopySeal

    init(_ redis: RedisClient, seal: CopySeal, patience: Duration = Self.patience) {
        self.redis = PatientRedis(redis, patience: patience)
        self.seal = seal
    }

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
    func take(_ names: Names) async -> Finding {
        let token = UUID().uuidString
        let arguments: [RedisArgument] = [.text(token), .number(Self.leaseMilliseconds)]
        let reply = await self.redis.run(Self.take, keys: [names.lease, names.copy], arguments)
        guard let parts = reply?.elements, let word = parts.first?.text else { return .unknown }
        switch word {
        case "mine": return .mine(Hold(names: names, token: token))
        case "running": return .running
        default:
            let copy = parts.last?.data.flatMap { self.seal.open($0, as: names.copy) }
            return copy.map(Finding.answered) ?? .unknown
        }
    }

    /// Keeps a copy of the answer and ends the lease; nothing happens when it is no longer ours.
    func keep(_ answer: StoredAnswer, _ hold: Hold) async {
        guard answer.body.utf8.count <= Self.maximumCopy, let copy = self.seal.seal(answer, as: hold.names.copy) else {
            return await self.release(hold)
        }
        let arguments: [RedisArgument] = [.text(hold.token), .bytes(copy), .number(Self.copySeconds)]
        _ = await self.redis.run(Self.keep, keys: [hold.names.lease, hold.names.copy], arguments, isDue: true)
    }

    /// Ends the lease; nothing happens when it is no longer ours.
    func release(_ hold: Hold) async {
        _ = await self.redis.run(Self.release, keys: [hold.names.lease], [.text(hold.token)], isDue: true)
    }
}
