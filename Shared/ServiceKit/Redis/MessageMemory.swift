import Cryptography
import Messaging
import Primitives
import Redis

/// Messages from outside that are committed, remembered for a day at most, so that one that comes again costs no transaction.
///
/// Only ever a shortcut: what it does not know is looked up where it is stored. What it knows names the history of the
/// database and is void after a restore.
public struct MessageMemory: Sendable {
    /// Providers repeat what they believe to be lost for hours.
    static let seconds: Int64 = 86_400

    private let redis: PatientRedis?
    private let epoch: DatabaseEpoch
    private let service: String
    private let metrics: IdempotencyMetrics

    init(_ redis: PatientRedis?, epoch: DatabaseEpoch, service: String, metrics: IdempotencyMetrics) {
        self.redis = redis
        self.epoch = epoch
        self.service = service
        self.metrics = metrics
    }

    private static let ask = RedisScript("return redis.call('EXISTS', KEYS[1])")
    private static let keep = RedisScript("return redis.call('SET', KEYS[1], '1', 'EX', ARGV[1])")

    /// Runs `work` for a message unless it is known to be committed; true when it was new.
    ///
    /// `work` commits the message, and says whether it was new.
    public func once(_ id: String, _ work: () async throws -> Bool) async throws -> Bool {
        guard let redis = self.redis, let name = await self.name(of: id),
            let answer = await redis.run(Self.ask, keys: [name], [])
        else {
            if self.redis != nil { self.metrics.count(.webhooks, .redisUnknown) }
            return self.counted(try await work())
        }
        guard answer.number == 0 else {
            self.metrics.count(.webhooks, .repeatRedis)
            return false
        }
        let isNew = self.counted(try await work())
        _ = await redis.run(Self.keep, keys: [name], [.number(Self.seconds)])
        return isNew
    }

    private func counted(_ isNew: Bool) -> Bool {
        self.metrics.count(.webhooks, isNew ? .first : .repeatPostgres)
        return isNew
    }

    private func name(of id: String) async -> String? {
        guard let epoch = await self.epoch.current() else { return nil }
        let text = Array("\(self.service)|\(epoch)|\(id)".utf8)
        return "seen:message:\(Hex.encode(Array(SHA256.hash(data: text))))"
    }
}
