import Cryptography
import Redis

/// The buckets that all processes of a service share: in Redis, one script and one round trip per request.
///
/// Redis decides nothing that must be right. Whenever it is away or slow the answer is nil, and the process counts by
/// itself; it is asked again after `PatientRedis.rest`.
final class SharedBuckets: Sendable {
    /// The longest that a request waits for Redis.
    static let defaultPatience = Duration.milliseconds(10)

    private let redis: PatientRedis
    private let secret: SymmetricKey
    private let service: String

    init(
        _ redis: RedisClient,
        secret: SymmetricKey,
        service: String,
        patience: Duration = SharedBuckets.defaultPatience
    ) {
        self.redis = PatientRedis(redis, patience: patience)
        self.secret = secret
        self.service = service
    }

    /// Puts one request into all buckets, or into none when one of them is full.
    ///
    /// - Returns: By bucket whether it had room, and in how many nanoseconds it will be empty; nil when Redis does not
    ///   say.
    func add(to buckets: [(key: RateKey, limit: RateLimit)]) async -> [(hasRoom: Bool, emptyIn: Int64)]? {
        let names = buckets.map { $0.key.name(self.secret, service: self.service) }
        let numbers = buckets.flatMap { [RedisArgument.number($0.limit.interval), .number($0.limit.window)] }
        let reply = await self.redis.run(Self.script, keys: names, numbers)
        guard let parts = reply?.elements, parts.count == 2 * buckets.count else { return nil }
        return buckets.indices.map { index in
            (hasRoom: parts[2 * index].number == 1, emptyIn: parts[2 * index + 1].number ?? 0)
        }
    }

    /// The same algorithm as `RateBucket`, by the clock of Redis, which all processes share.
    ///
    /// A bucket holds the microsecond at which it will be empty, and goes away by itself at that time. One that holds
    /// more than fits was filled by another clock, and counts as empty.
    private static let script = RedisScript(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000000 + time[2]
        local reply, ends, fits = {}, {}, true
        for i = 1, #KEYS do
            local interval, window = ARGV[2 * i - 1] / 1000, ARGV[2 * i] / 1000
            local current = math.max(tonumber(redis.call('GET', KEYS[i]) or now), now)
            if current - now > window then current = now end
            ends[i] = current + interval
            local room = ends[i] - now <= window
            fits = fits and room
            reply[2 * i - 1] = room and 1 or 0
            reply[2 * i] = math.floor((current - now) * 1000)
        end
        if fits then
            for i = 1, #KEYS do
                local left = ends[i] - now
                redis.call('SET', KEYS[i], string.format('%.3f', ends[i]), 'PX', math.max(1, math.ceil(left / 1000)))
                reply[2 * i] = math.floor(left * 1000)
            end
        end
        return reply
        """
    )
}
