import Cryptography
import EventLoops
import Primitives
import Redis

/// A script that runs in Redis, and its name there.
struct RedisScript: Sendable {
    let text: String
    let hash: String

    init(_ text: String) {
        self.text = text
        self.hash = Hex.encode(Array(Insecure.SHA1.hash(data: Array(text.utf8))))
    }
}

/// Redis for those whom it only saves work: who asks in vain goes on without it, and for a while nobody asks.
final class PatientRedis: Sendable {
    /// For so long nobody asks after a failure, so that a slow Redis delays few requests.
    static let rest = Duration.seconds(1)

    private let redis: RedisClient
    private let patience: Duration
    private let askAgain = Locked(ContinuousClock.now)

    /// Asks this Redis, and waits no longer than `patience`.
    init(_ redis: RedisClient, patience: Duration) {
        self.redis = redis
        self.patience = patience
    }

    /// What a script says of these keys; nil when Redis does not say.
    ///
    /// What ends something that Redis has begun is due: sent also while nobody asks.
    func run(
        _ script: RedisScript,
        keys: [String],
        _ arguments: [RedisArgument],
        isDue: Bool = false
    ) async -> RedisValue? {
        let now = ContinuousClock.now
        guard isDue || self.askAgain.withLock({ $0 <= now }) else { return nil }
        do {
            return try await self.evaluate(script, keys, arguments)
        } catch {
            self.askAgain.withLock { $0 = now.advanced(by: Self.rest) }
            return nil
        }
    }

    private func evaluate(
        _ script: RedisScript,
        _ keys: [String],
        _ arguments: [RedisArgument]
    ) async throws(RedisError) -> RedisValue {
        do {
            return try await self.redis.send(.evalsha(script.hash, keys: keys, arguments), timeout: self.patience)
        } catch  where error.reply == "NOSCRIPT" {
            // A Redis that was restarted or emptied: it learns the script with this call.
            return try await self.redis.send(.eval(script.text, keys: keys, arguments), timeout: self.patience)
        }
    }
}
