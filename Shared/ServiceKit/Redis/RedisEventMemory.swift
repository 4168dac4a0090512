import Foundation
import Messaging
import Primitives
import Redis

/// Which events a service has committed, kept in Redis for an hour.
///
/// One set per epoch and minute, by the time inside of the ids: a batch touches few of them, and each goes away by
/// itself. A Redis that was emptied, is away, or was restored from an old state knows less, and never anything wrong.
struct RedisEventMemory: EventMemory {
    /// The longest that a batch waits for Redis, before its transaction and after it.
    static let defaultPatience = Duration.milliseconds(50)
    /// How long a minute is kept after the last event of it was noted.
    static let keptSeconds: Int64 = 3_600
    /// With more events at once one script would hold Redis up for others.
    static let mostAtOnce = 500

    private let redis: PatientRedis
    private let service: String
    private let metrics: IdempotencyMetrics

    init(
        _ redis: RedisClient,
        service: String,
        metrics: IdempotencyMetrics,
        patience: Duration = RedisEventMemory.defaultPatience
    ) {
        self.redis = PatientRedis(redis, patience: patience)
        self.service = service
        self.metrics = metrics
    }

    /// ARGV has two words per event: which of the sets, and the id.
    private static let ask = RedisScript(
        """
        local known = {}
        for i = 1, #ARGV / 2 do
            known[i] = redis.call('SISMEMBER', KEYS[tonumber(ARGV[2 * i - 1])], ARGV[2 * i])
        end
        return known
        """
    )

    /// The same after a first word, for how many seconds the sets stay.
    private static let add = RedisScript(
        """
        for i = 2, #ARGV, 2 do redis.call('SADD', KEYS[tonumber(ARGV[i])], ARGV[i + 1]) end
        for i = 1, #KEYS do redis.call('EXPIRE', KEYS[i], ARGV[1]) end
        return #KEYS
        """
    )

    func known(_ ids: [UUID], in epoch: String) async -> Set<UUID>? {
        var known: Set<UUID> = []
        for part in self.parts(of: ids, epoch) {
            let reply = await self.redis.run(Self.ask, keys: part.keys, part.places)
            guard let flags = reply?.elements, flags.count == part.ids.count else { return nil }
            for (id, flag) in zip(part.ids, flags) where flag.number == 1 { known.insert(id) }
        }
        return known
    }

    func note(_ ids: [UUID], in epoch: String) async {
        for part in self.parts(of: ids, epoch) {
            let reply = await self.redis.run(Self.add, keys: part.keys, [.number(Self.keptSeconds)] + part.places)
            guard reply != nil else { return }
        }
    }

    func count(_ outcome: EventRecollection, _ number: Int) {
        switch outcome {
        case .first: self.metrics.count(.events, .first, by: number)
        case .repeatFromMemory: self.metrics.count(.events, .repeatRedis, by: number)
        case .repeatFromDatabase: self.metrics.count(.events, .repeatPostgres, by: number)
        case .unknown: self.metrics.count(.events, .redisUnknown, by: number)
        }
    }

    // MARK: Where they are

    /// What one script is asked.
    private struct Part {
        var ids: [UUID] = []
        var keys: [String] = []
        /// For each id the number of its key, from 1, and its bytes.
        var places: [RedisArgument] = []
    }

    private func parts(of ids: [UUID], _ epoch: String) -> [Part] {
        stride(from: 0, to: ids.count, by: Self.mostAtOnce).map { start in
            self.part(ids[start..<min(start + Self.mostAtOnce, ids.count)], epoch)
        }
    }

    private func part(_ ids: ArraySlice<UUID>, _ epoch: String) -> Part {
        var part = Part(ids: Array(ids))
        var numbers: [Int64: Int64] = [:]
        for id in ids {
            let minute = (id.version7Milliseconds ?? 0) / 60_000
            let number: Int64
            if let known = numbers[minute] {
                number = known
            } else {
                part.keys.append("seen:\(self.service):\(epoch):\(minute)")
                number = Int64(part.keys.count)
                numbers[minute] = number
            }
            part.places += [.number(number), .bytes(id.bytes)]
        }
        return part
    }
}
