import Cryptography
import Foundation
import Logging
import Primitives
import Redis
import TestSupport
import Testing

@testable import ServiceKit

private let secret = SymmetricKey(size: .bits256)
private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

private func limits(_ texts: [RatePolicy: String]) throws -> RateLimitSettings {
    RateLimitSettings(try texts.mapValues { try #require(RateLimit(text: $0)) })
}

/// A limiter as a process of the service `test` has it.
private func limiter(
    _ texts: [RatePolicy: String],
    on redis: RedisClient? = nil,
    metrics: PrometheusRegistry = PrometheusRegistry(),
    patience: Duration = .seconds(10)
) throws -> RateLimiter {
    RateLimiter(
        settings: try limits(texts),
        shared: redis.map { SharedBuckets($0, secret: secret, service: "test", patience: patience) },
        metrics: metrics
    )
}

/// Runs clients around `body`, each with a connection of its own, as processes have.
private func withClients(
    _ count: Int,
    of url: String,
    _ body: @Sendable ([RedisClient]) async throws -> Void
) async throws {
    let clients = try (0..<count).map { _ in
        try RedisClient(configuration: try RedisConfiguration(url: url), logger: quiet)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
        for client in clients { group.addTask { await client.run() } }
        for client in clients { #expect(await client.waitUntilConnected()) }
        try await body(clients)
        group.cancelAll()
    }
}

/// How many of so many tries at once are let through.
private func passed(_ tries: Int, _ keys: [RateKey], through limiters: [RateLimiter]) async -> Int {
    await withTaskGroup(of: Bool.self) { group in
        for index in 0..<tries {
            let limiter = limiters[index % limiters.count]
            group.addTask { (try? await limiter.count(keys)) != nil }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
}

private func newUser(_ policy: RatePolicy = .user) -> RateKey { RateKey(policy, user: UserID(UUID())) }

@Suite("limits of requests")
struct RateLimiterTests {
    @Test("a process alone lets exactly the limit through, per user")
    func alone() async throws {
        let limiter = try limiter([.user: "10/3600"])
        let ada = newUser()
        #expect(await passed(40, [ada], through: [limiter]) == 10)
        #expect(await passed(40, [newUser()], through: [limiter]) == 10)
        #expect(await passed(5, [ada], through: [limiter]) == 0)
    }

    @Test("a policy without a limit counts nothing")
    func off() async throws {
        let limiter = try limiter([:])
        #expect(await passed(1000, [newUser()], through: [limiter]) == 1000)
        #expect(try await limiter.count([newUser()]).isEmpty)
    }

    @Test("processes that share a Redis let exactly the limit through together")
    func together() async throws {
        try await withTestRedis { url in
            try await withClients(3, of: url) { clients in
                let limiters = try clients.map { try limiter([.user: "10/3600"], on: $0) }
                let ada = newUser()
                #expect(await passed(60, [ada], through: limiters) == 10)
                #expect(await passed(60, [newUser()], through: limiters) == 10)
                // A process that starts now knows of it too.
                #expect(await passed(5, [ada], through: [try limiter([.user: "10/3600"], on: clients[0])]) == 0)
            }
        }
    }

    @Test("a request that one bucket has no room for goes into none")
    func allOrNone() async throws {
        try await withTestRedis { url in
            try await withClients(1, of: url) { clients in
                let texts: [RatePolicy: String] = [.user: "100/3600", .money: "3/3600"]
                let id = UserID(UUID())
                let user = RateKey(.user, user: id)
                let first = try limiter(texts, on: clients[0])
                #expect(await passed(20, [user, RateKey(.money, user: id)], through: [first]) == 3)
                // Another process has not counted by itself what was refused.
                let standings = try await limiter(texts, on: clients[0]).count([user])
                #expect(standings.map(\.remaining) == [96])
            }
        }
    }

    @Test("a bucket in Redis names nobody, and goes away by itself")
    func keys() async throws {
        try await withTestRedis { url in
            try await withClients(1, of: url) { clients in
                let id = UserID(UUID())
                let address = try #require(ClientAddress(text: "203.0.113.77"))
                let limiter = try limiter([.user: "2/2", .address: "2/2"], on: clients[0])
                let keys = [RateKey(.user, user: id), RateKey(.address, address: address)]
                _ = try await limiter.count(keys)
                let names = try await clients[0].send(RedisCommand("KEYS", "*")).elements?.compactMap(\.text) ?? []
                #expect(names.count == 2)
                for name in names {
                    #expect(name.hasPrefix("rate:test:"))
                    #expect(!name.contains("203.0") && !name.contains(id.description))
                    #expect(!name.contains(Hex.encode(id.uuid.bytes)) && !name.contains("cb00714d"))
                    let left = try await clients[0].send(RedisCommand("PTTL", .text(name))).number ?? -1
                    #expect((1...2000).contains(left))
                }
                try await eventually("the buckets to go") {
                    try await clients[0].send(RedisCommand("DBSIZE")).number == 0
                }
            }
        }
    }

    @Test("a bucket that was filled while the clock of Redis was an hour ahead refuses nobody")
    func clockAhead() async throws {
        try await withTestRedis { url in
            try await withClients(1, of: url) { clients in
                let ada = newUser()
                _ = try await limiter([.user: "2/60"], on: clients[0]).count([ada])
                let names = try await clients[0].send(RedisCommand("KEYS", "*")).elements?.compactMap(\.text) ?? []
                let name = try #require(names.first)
                let seconds = try await clients[0].send(RedisCommand("TIME")).elements?.first?.number ?? 0
                let ahead = RedisArgument.number((seconds + 3600) * 1_000_000)
                _ = try await clients[0].send(RedisCommand("SET", .text(name), ahead, "EX", "3600"))
                // Another process: it knows nothing by itself.
                #expect(await passed(3, [ada], through: [try limiter([.user: "2/60"], on: clients[0])]) == 2)
            }
        }
    }

    @Test("a Redis that forgot the script is taught it again")
    func scriptFlushed() async throws {
        try await withTestRedis { url in
            try await withClients(1, of: url) { clients in
                let metrics = PrometheusRegistry()
                let limiter = try limiter([.user: "2/3600"], on: clients[0], metrics: metrics)
                let ada = newUser()
                _ = try await limiter.count([ada])
                _ = try await clients[0].send(RedisCommand("SCRIPT", "FLUSH"))
                _ = try await limiter.count([ada])
                #expect(await passed(3, [ada], through: [limiter]) == 0)
                #expect(metrics.text().contains("rate_limit_counted_alone_total 0"))
            }
        }
    }

    @Test("without Redis a process counts alone, at once, and says so")
    func away() async throws {
        let client = try RedisClient(configuration: try RedisConfiguration(url: "redis://127.0.0.1:1/0"), logger: quiet)
        let metrics = PrometheusRegistry()
        let limiter = try limiter([.user: "10/3600"], on: client, metrics: metrics)
        #expect(await passed(40, [newUser()], through: [limiter]) == 10)
        #expect(metrics.text().contains(#"rate_limit_refusals_total{policy="user"} 30"#))
        #expect(!metrics.text().contains("rate_limit_counted_alone_total 0"))
    }

    @Test("a Redis that hangs delays few requests for some milliseconds, one that comes back is believed again")
    func hangs() async throws {
        try await withPrivateServers([.redis]) { servers in
            try await withClients(1, of: try servers.redisURL) { clients in
                let patience = SharedBuckets.defaultPatience
                let texts: [RatePolicy: String] = [.user: "10/3600"]
                let limiter = try limiter(texts, on: clients[0], patience: patience)
                try await servers.control.pause(.redis)
                let start = ContinuousClock.now
                for _ in 0..<20 { #expect(await passed(11, [newUser()], through: [limiter]) == 10) }
                let pauses = Int(start.duration(to: .now) / PatientRedis.rest)
                try await servers.control.resume(.redis)
                // Redis tells afterwards who asked it: those at once, and again after each pause.
                let asked = try await eventually("Redis to say how often it was asked") {
                    let calls = try await clients[0].send(RedisCommand("INFO", "commandstats")).text?
                        .firstMatch(of: /cmdstat_evalsha:calls=(\d+)/)
                    return calls.flatMap { Int($0.1) }
                }
                #expect(asked <= 11 * (pauses + 1))
                try await eventually("Redis to count again") {
                    _ = try await limiter.count([newUser()])
                    return try await clients[0].send(RedisCommand("DBSIZE")).number ?? 0 > 0
                }
                try await servers.control.kill(.redis)
                #expect(await passed(11, [newUser()], through: [limiter]) == 10)
            }
        }
    }

    @Test("what a process counted alone is not forgotten when Redis answers again")
    func slowRedis() async throws {
        try await withPrivateServers([.redis]) { servers in
            try await withClients(1, of: try servers.redisURL) { clients in
                let patience = SharedBuckets.defaultPatience
                let limiter = try limiter([.user: "10/3600"], on: clients[0], patience: patience)
                let ada = newUser()
                try await servers.control.pause(.redis)
                #expect(await passed(6, [ada], through: [limiter]) == 6)
                try await servers.control.resume(.redis)
                try await eventually("Redis to count again") {
                    _ = try await limiter.count([newUser()])
                    return try await clients[0].send(RedisCommand("DBSIZE")).number ?? 0 > 0
                }
                #expect(await passed(20, [ada], through: [limiter]) == 4)
            }
        }
    }

    @Test("what is known to be full is refused without asking Redis")
    func quickRefusal() async throws {
        try await withTestRedis { url in
            try await withClients(1, of: url) { clients in
                let limiter = try limiter([.user: "1/3600"], on: clients[0])
                let ada = newUser()
                _ = try await limiter.count([ada])
                // Asked now, Redis would say yes.
                _ = try await clients[0].send(RedisCommand("FLUSHDB"))
                #expect(await passed(50, [ada], through: [limiter]) == 0)
            }
        }
    }
}
