import Cryptography
import Foundation
import Primitives
import Redis

/// What Redis knows about a key: that a request is running, and a fast copy of its answer.
///
/// It decides nothing; every
/// failure of Redis reads as "not known".
struct IdempotencyLease: Sendable {
    /// Longer than the deadline of a request, so that a lease ends only by a crash.
    static let leaseMilliseconds = 15_000
    /// How long the fast copy stays; the row stays 30 days.
    static let copySeconds = 600
    /// A longer answer is not copied.
    static let maximumCopy = 16 * 1024

    /// What was found.
    enum Finding: Sendable {
        /// Nobody else runs; ours to run, until `release`.
        case mine(token: String)
        case running
        case answered(StoredAnswer)
        /// Redis does not answer.
        case unknown
    }

    private let redis: RedisClient

    init(_ redis: RedisClient) {
        self.redis = redis
    }

    func take(_ scope: IdempotencyScope) async -> Finding {
        let token = UUID().uuidString
        let (lease, copy) = Self.names(scope)
        let milliseconds = String(Self.leaseMilliseconds)
        guard
            let replies = try? await self.redis.pipeline([
                RedisCommand("GET", .key(copy)),
                RedisCommand("SET", .key(lease), .text(token), "NX", "PX", .text(milliseconds)),
            ]), replies.count == 2
        else { return .unknown }
        if let text = replies[0].text, let answer = StoredAnswer(text: text) {
            await self.release(scope, token: token)
            return .answered(answer)
        }
        return replies[1] == .null ? .running : .mine(token: token)
    }

    /// Keeps a copy of the answer and ends the lease.
    func finish(_ scope: IdempotencyScope, token: String?, answer: StoredAnswer) async {
        let text = answer.text
        if text.utf8.count <= Self.maximumCopy {
            let copy = Self.names(scope).copy
            _ = try? await self.redis.send(
                RedisCommand("SET", .key(copy), .text(text), "EX", .number(Int64(Self.copySeconds)))
            )
        }
        await self.release(scope, token: token)
    }

    /// Ends the lease if it is still ours.
    func release(_ scope: IdempotencyScope, token: String?) async {
        guard let token else { return }
        let script = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0"
        _ = try? await self.redis.send(.eval(script, keys: [Self.names(scope).lease], [.text(token)]))
    }

    /// Hashed: keys are chosen by clients and may be long.
    private static func names(_ scope: IdempotencyScope) -> (lease: String, copy: String) {
        let text = "\(scope.user.uuid.lowercased)|\(scope.route)|\(scope.key.text)"
        let digest = Hex.encode(Array(SHA256.hash(data: Array(text.utf8))))
        return ("idem:lease:\(digest)", "idem:copy:\(digest)")
    }
}
