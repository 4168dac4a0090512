import Foundation
import Logging
import Messaging
import Primitives
import Redis
import TestSupport
import Testing

@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Runs a client of an empty Redis around `body`.
private func withRedis(_ body: @Sendable (RedisClient) async throws -> Void) async throws {
    try await withTestRedis { url in
        var configuration = try RedisConfiguration(url: url)
        configuration.prefix = "own:"
        let client = try RedisClient(configuration: configuration, logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await client.run() }
            #expect(await client.waitUntilConnected())
            try await body(client)
            group.cancelAll()
        }
    }
}

private func eventMemory(
    _ redis: RedisClient,
    of service: String = "transaction",
    metrics: PrometheusRegistry = PrometheusRegistry()
) -> RedisEventMemory {
    RedisEventMemory(redis, service: service, metrics: IdempotencyMetrics(metrics), patience: .seconds(10))
}

/// A client of a Redis that is not there.
private func nowhere() throws -> RedisClient {
    try RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1:1/0"), logger: quiet)
}

/// Ids made so many minutes ago.
private func ids(_ count: Int, minutesAgo minutes: Int = 0) -> [UUID] {
    let source = UUIDv7Source(clock: AdjustableClock(offset: .seconds(-60 * minutes)))
    return (0..<count).map { _ in source.next() }
}

@Suite("events that Redis remembers")
struct RedisEventMemoryTests {
    @Test("what was noted is known, in its epoch, of its service, and until Redis is emptied")
    func known() async throws {
        try await withRedis { redis in
            let (noted, others) = (ids(3) + ids(3, minutesAgo: 7), ids(3) + ids(3, minutesAgo: 7))
            let memory = eventMemory(redis)
            #expect(await memory.known(noted, in: "one") == Set<UUID>())
            await memory.note(noted, in: "one")
            #expect(await memory.known(noted + others, in: "one") == Set(noted))
            #expect(await memory.known(noted, in: "two") == Set<UUID>())
            #expect(await eventMemory(redis, of: "account").known(noted, in: "one") == Set<UUID>())
            _ = try await redis.send(RedisCommand("FLUSHDB"))
            #expect(await memory.known(noted, in: "one") == Set<UUID>())
        }
    }

    @Test("more than one script may ask are noted and known, each for itself")
    func many() async throws {
        try await withRedis { redis in
            let all = (0..<13).flatMap { ids(100, minutesAgo: $0) }
            let noted = all.enumerated().filter { $0.offset % 3 != 1 }.map(\.element)
            #expect(all.count > 2 * RedisEventMemory.mostAtOnce)
            let memory = eventMemory(redis)
            await memory.note(noted, in: "one")
            #expect(await memory.known(all, in: "one") == Set(noted))
        }
    }

    @Test("a set per minute, below the prefix, that goes away an hour after the last event was noted")
    func keys() async throws {
        try await withRedis { redis in
            let noted = ids(5) + ids(5, minutesAgo: 3)
            let memory = eventMemory(redis)
            await memory.note(noted, in: "one")
            let minutes = Set(noted.map { ($0.version7Milliseconds ?? 0) / 60_000 })
            let names = Set(minutes.map { "seen:transaction:one:\($0)" })
            let found = try await redis.send(RedisCommand("KEYS", "*")).elements?.compactMap(\.text)
            #expect(Set(found ?? []) == Set(names.map { "own:\($0)" }))
            for name in names {
                let left = try await redis.send(RedisCommand("TTL", .key(name))).number ?? -1
                #expect((60...RedisEventMemory.keptSeconds).contains(left))
                _ = try await redis.send(RedisCommand("EXPIRE", .key(name), .number(30)))
            }
            await memory.note(noted, in: "one")
            for name in names {
                let left = try await redis.send(RedisCommand("TTL", .key(name))).number ?? -1
                #expect(left > 60)
            }
        }
    }

    @Test("a Redis that forgot the scripts is taught them again")
    func scriptsFlushed() async throws {
        try await withRedis { redis in
            let (memory, noted) = (eventMemory(redis), ids(2))
            _ = try await redis.send(RedisCommand("SCRIPT", "FLUSH"))
            await memory.note(noted, in: "one")
            _ = try await redis.send(RedisCommand("SCRIPT", "FLUSH"))
            #expect(await memory.known(noted, in: "one") == Set(noted))
        }
    }

    @Test("a Redis that is away says nothing, and one that cannot answer neither")
    func away() async throws {
        let memory = eventMemory(try nowhere())
        await memory.note(ids(1), in: "one")
        #expect(await memory.known(ids(1), in: "one") == nil)
        try await withRedis { redis in
            let event = ids(1)
            let minute = (event[0].version7Milliseconds ?? 0) / 60_000
            _ = try await redis.send(RedisCommand("SET", .key("seen:transaction:one:\(minute)"), "no set"))
            #expect(await eventMemory(redis).known(event, in: "one") == nil)
        }
    }

    @Test("deliveries are counted by how they were recognised")
    func counts() throws {
        let metrics = PrometheusRegistry()
        let memory = eventMemory(try nowhere(), metrics: metrics)
        memory.count(.first, 5)
        memory.count(.repeatFromMemory, 6)
        memory.count(.repeatFromDatabase, 7)
        memory.count(.unknown, 8)
        memory.count(.first, 1)
        let lines = metrics.text().split(separator: "\n").filter { $0.contains(#"place="events""#) }
        for (outcome, number) in ["first": 6, "repeat_redis": 6, "repeat_postgres": 7, "redis_unknown": 8] {
            let line = lines.first { $0.contains(#"outcome="\#(outcome)""#) }
            #expect(line?.hasSuffix(" \(number)") == true, "\(outcome)")
        }
    }
}
