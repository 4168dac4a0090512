import Cryptography
import Foundation
import HTTPTypes
import Logging
import Messaging
import Postgres
import Primitives
import Redis
import ServiceTestSupport
import TestSupport
import Testing

@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

extension IdempotentExecutor {
    /// Runs `body` once for its key, in a plain transaction.
    fileprivate func run(
        _ scope: IdempotencyScope,
        on postgres: PostgresClient,
        _ body: (PostgresTransaction) async throws -> APIResponse
    ) async throws -> APIResponse {
        try await self.run(scope) {
            try await self.finish(scope, requestID: nil) { work in
                try await postgres.withTransaction(as: scope.user.uuid) { transaction in
                    try await work.perform(in: transaction) { try await body(transaction) }
                }
            }
        }
    }
}

/// A database with the base tables and one more, and clients for it.
private struct Stage: Sendable {
    let database: TestDatabase
    let postgres: PostgresClient
    let redis: RedisClient?
    let executor: IdempotentExecutor
    let metrics: IdempotencyMetrics
    /// As the executor has it, with the same keys.
    let lease: IdempotencyLease?

    func names(_ scope: IdempotencyScope, in epoch: String = "one") -> IdempotencyLease.Names {
        IdempotencyLease.Names(scope, in: epoch)
    }

    /// How often something came out in one way.
    func count(_ outcome: IdempotencyMetrics.Outcome) -> Int {
        self.metrics.totals()["requests"]?[outcome.rawValue] ?? 0
    }

    func scope(_ key: String, body: String = "{}", user: UserID = UserID(UUID())) throws -> IdempotencyScope {
        IdempotencyScope(
            user: user,
            route: "POST /effects",
            key: try #require(IdempotencyKey(key)),
            fingerprint: RequestFingerprint(method: "POST", path: "/effects", body: Array(body.utf8))
        )
    }

    /// One row per effect.
    func effect(_ scope: IdempotencyScope, answering status: HTTPResponse.Status = .created) async throws -> APIResponse
    {
        try await self.executor.run(scope, on: self.postgres) { transaction in
            let id = UUID()
            try await transaction.execute("INSERT INTO effects (id, key) VALUES (\(id), \(scope.key.text))")
            let body = Array(#"{"id":"\#(id.uuidString)"}"#.utf8)
            return APIResponse(status, body: body, headers: [.location: "/effects/\(id.uuidString)"])
        }
    }

    func effects(_ key: String) async throws -> Int {
        Int(try await self.database.psql("SELECT count(*) FROM effects WHERE key = '\(key)'").first ?? "") ?? -1
    }
}

extension Stage {
    /// Redis may take as long as it likes: a slow machine is no Redis that is away.
    init(_ database: TestDatabase, _ postgres: PostgresClient, _ redis: RedisClient?, patience: Duration = .seconds(60))
    {
        let metrics = IdempotencyMetrics(PrometheusRegistry())
        let seal = CopySeal([SymmetricKey(size: .bits256)])
        let lease = redis.map { IdempotencyLease($0, seal: seal, patience: patience) }
        let epoch = DatabaseEpoch(asking: { "one" }, lifetime: .seconds(600))
        self.init(
            database: database,
            postgres: postgres,
            redis: redis,
            executor: IdempotentExecutor(
                postgres: postgres,
                shared: lease.map { IdempotentExecutor.Shared(lease: $0, epoch: epoch) },
                metrics: metrics
            ),
            metrics: metrics,
            lease: lease
        )
    }
}

private func withStage(redis: Bool, _ body: @Sendable (Stage) async throws -> Void) async throws {
    let effects = Migration(
        set: "effects",
        number: 1,
        name: "effects",
        sql: "CREATE TABLE effects (id uuid PRIMARY KEY, key text); GRANT SELECT, INSERT ON effects TO ${handler};"
    )
    let schema = try MessagingSchema.sets(around: [SchemaSet(name: "effects", migrations: [effects])])
    try await withTestDatabase(from: .migrated("test", schema)) { database in
        try await withTestRedis { redisURL in
            let configuration = try PostgresConfiguration(url: database.handlerURL)
            let postgres = PostgresClient(configuration: configuration, logger: quiet)
            let client =
                redis ? try RedisClient(configuration: try RedisConfiguration(url: redisURL), logger: quiet) : nil
            let stage = Stage(database, postgres, client)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await postgres.run() }
                if let client {
                    group.addTask { await client.run() }
                    _ = await client.waitUntilConnected()
                }
                defer { group.cancelAll() }
                try await body(stage)
            }
        }
    }
}

@Suite("requests that take effect once", .serialized)
struct IdempotentExecutorTests {
    @Test("the same key and request get the same answer and one effect", arguments: [true, false])
    func replay(redis: Bool) async throws {
        try await withStage(redis: redis) { stage in
            let scope = try stage.scope("k1")
            let first = try await stage.effect(scope)
            let second = try await stage.effect(scope)
            #expect(second.status == .created)
            #expect(second.body == first.body)
            #expect(second.headers[.idempotencyReplayed] == "true")
            #expect(first.headers[.idempotencyReplayed] == nil)
            #expect(second.headers[.location] == first.headers[.location] && first.headers[.location] != nil)
            #expect(try await stage.effects("k1") == 1)
            #expect(stage.count(.first) == 1 && stage.count(redis ? .repeatRedis : .repeatPostgres) == 1)
        }
    }

    @Test("another request under the key is 422, another user's key is another key", arguments: [true, false])
    func reused(redis: Bool) async throws {
        try await withStage(redis: redis) { stage in
            let user = UserID(UUID())
            _ = try await stage.effect(try stage.scope("k2", user: user))
            let other = try stage.scope("k2", body: #"{"amount":2}"#, user: user)
            let error = await #expect(throws: APIError.self) { try await stage.effect(other) }
            #expect(error?.status.code == 422)
            #expect(error?.code == "idempotency_key_reused")
            _ = try await stage.effect(try stage.scope("k2"))
            #expect(try await stage.effects("k2") == 2)
        }
    }

    @Test("fifty at once: one effect, and each gets the answer", arguments: [true, false])
    func concurrent(redis: Bool) async throws {
        try await withStage(redis: redis) { stage in
            let scope = try stage.scope("k3")
            let outcomes = await withTaskGroup(of: String.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        do {
                            return String(decoding: try await stage.effect(scope).body, as: UTF8.self)
                        } catch let error as APIError {
                            return error.code
                        } catch {
                            return "\(error)"
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            // Nobody is turned away: the second waits for the first and replays.
            let answers = Set(outcomes)
            #expect(answers.count == 1, "\(answers)")
            #expect(answers.first?.hasPrefix("{") == true)
            #expect(try await stage.effects("k3") == 1)
        }
    }

    @Test(
        "an answer that is not final leaves neither effect nor answer",
        arguments: [400, 401, 403, 409, 429, 500, 503]
    )
    func notStored(code: Int) async throws {
        try await withStage(redis: true) { stage in
            let scope = try stage.scope("k4")
            let refused = try await stage.effect(scope, answering: .init(code: code))
            #expect(refused.status.code == code)
            #expect(try await stage.effects("k4") == 0)
            #expect(try await stage.effect(scope).status == .created)
            #expect(try await stage.effects("k4") == 1)
        }
    }

    @Test("a thrown business refusal is stored, its effects are not", arguments: [true, false])
    func thrownRefusal(redis: Bool) async throws {
        try await withStage(redis: redis) { stage in
            let scope = try stage.scope("k5")
            let refused = try await stage.executor.run(scope, on: stage.postgres) { transaction in
                try await transaction.execute("INSERT INTO effects (id, key) VALUES (\(UUID()), 'k5')")
                throw APIError.refused("insufficient_funds")
            }
            #expect(refused.status.code == 422)
            let again = try await stage.effect(scope)
            #expect(again.status.code == 422)
            #expect(again.body == refused.body)
            #expect(try await stage.effects("k5") == 0)
        }
    }

    @Test("any other error rolls back and lets the next try run")
    func thrownFailure() async throws {
        struct Failure: Error {}
        try await withStage(redis: true) { stage in
            let scope = try stage.scope("k6")
            await #expect(throws: Failure.self) {
                try await stage.executor.run(scope, on: stage.postgres) { transaction in
                    try await transaction.execute("INSERT INTO effects (id, key) VALUES (\(UUID()), 'k6')")
                    throw Failure()
                }
            }
            #expect(try await stage.effects("k6") == 0)
            #expect(try await stage.effect(scope).status == .created)
        }
    }

    @Test("a lease whose holder has died turns nobody away, and who waited for it leaves no copy")
    func deadHolder() async throws {
        try await withStage(redis: true) { stage in
            let scope = try stage.scope("k8")
            let (lease, names) = (try #require(stage.lease), stage.names(scope))
            guard case .mine = await lease.take(names) else { throw TestFailure("the lease is somebody's") }
            let start = ContinuousClock.now
            #expect(try await stage.effect(scope).status == .created)
            #expect(start.duration(to: .now) >= IdempotencyMachine.longestWait)
            #expect(try await stage.effects("k8") == 1)
            #expect(await lease.take(names) == .running)
        }
    }

    @Test("who has lost the lease can neither write a copy nor end the next one's")
    func lostLease() async throws {
        try await withStage(redis: true) { stage in
            let scope = try stage.scope("k9")
            let redis = try #require(stage.redis)
            let (lease, names) = (try #require(stage.lease), stage.names(scope))
            guard case .mine(let first) = await lease.take(names) else { throw TestFailure("no lease") }
            // It has ended by itself: the holder was stopped for longer.
            _ = try await redis.send(RedisCommand("FLUSHDB"))
            guard case .mine(let second) = await lease.take(names) else { throw TestFailure("no second lease") }
            let stale = StoredAnswer(requestHash: [1], status: 201, location: "/here", body: "stale")
            let fresh = StoredAnswer(requestHash: [1], status: 201, location: "/here", body: "fresh")
            await lease.keep(stale, first)
            await lease.release(first)
            #expect(await lease.take(names) == .running)
            await lease.keep(fresh, second)
            #expect(await lease.take(names) == .answered(fresh))
        }
    }

    @Test("Redis that hangs delays a few requests, and changes no answer")
    func hanging() async throws {
        try await withPrivateServers([.redis]) { servers in
            let client = try RedisClient(
                configuration: try RedisConfiguration(url: try servers.redisURL),
                logger: quiet
            )
            try await withStage(redis: false) { stage in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await client.run() }
                    _ = await client.waitUntilConnected()
                    let hasty = Stage(stage.database, stage.postgres, client, patience: IdempotencyLease.patience)
                    try await servers.control.pause(.redis)
                    let answers = try await Self.twenty(hasty.executor, stage)
                    try await servers.control.resume(.redis)
                    #expect(Set(answers).count == 1)
                    #expect(try await stage.effects("k10") == 1)
                    group.cancelAll()
                }
            }
        }
    }

    /// The bodies of twenty answers to one request, one after the other.
    private static func twenty(_ executor: IdempotentExecutor, _ stage: Stage) async throws -> [[UInt8]] {
        let scope = try stage.scope("k10")
        var bodies: [[UInt8]] = []
        for _ in 0..<20 {
            let answer = try await executor.run(scope, on: stage.postgres) { transaction in
                try await transaction.execute("INSERT INTO effects (id, key) VALUES (\(UUID()), 'k10')")
                return APIResponse(.created, body: Array("\(UUID())".utf8))
            }
            bodies.append(answer.body)
        }
        return bodies
    }

    @Test("an emptied Redis changes nothing")
    func flushed() async throws {
        try await withStage(redis: true) { stage in
            let scope = try stage.scope("k7")
            let first = try await stage.effect(scope)
            _ = try await stage.redis?.send(RedisCommand("FLUSHDB"))
            #expect(try await stage.effect(scope).body == first.body)
            #expect(try await stage.effects("k7") == 1)
        }
    }

    @Test("a copy of another history of the database is none")
    func otherHistory() async throws {
        try await withStage(redis: true) { stage in
            let (lease, scope) = (try #require(stage.lease), try stage.scope("k11"))
            guard case .mine(let hold) = await lease.take(stage.names(scope)) else { throw TestFailure("no lease") }
            await lease.keep(StoredAnswer(requestHash: [1], status: 201, body: "{}"), hold)
            guard case .answered = await lease.take(stage.names(scope)) else { throw TestFailure("no copy") }
            guard case .mine = await lease.take(stage.names(scope, in: "two")) else { throw TestFailure("a copy") }
        }
    }

    @Test("nobody who reads Redis reads an answer")
    func sealed() async throws {
        try await withStage(redis: true) { stage in
            let (lease, scope) = (try #require(stage.lease), try stage.scope("k12"))
            let redis = try #require(stage.redis)
            let names = stage.names(scope)
            guard case .mine(let hold) = await lease.take(names) else { throw TestFailure("no lease") }
            await lease.keep(StoredAnswer(requestHash: [1], status: 201, body: "a secret of somebody's"), hold)
            let kept = try await redis.send(RedisCommand("GET", .key(names.copy))).data
            let bytes = try #require(kept)
            #expect(!String(decoding: bytes, as: UTF8.self).contains("secret"))
            // Put under another name it is no copy.
            let other = stage.names(try stage.scope("k13"))
            _ = try await redis.send(RedisCommand("SET", .key(other.copy), .bytes(bytes)))
            #expect(await lease.take(other) == .unknown)
        }
    }

    @Test("a refusal that is not kept is decided anew", arguments: [true, false])
    func notKept(redis: Bool) async throws {
        try await withStage(redis: redis) { stage in
            let scope = try stage.scope("k14")
            await #expect(throws: APIError.self) {
                try await stage.executor.run(scope, on: stage.postgres) { _ in
                    var refusal = APIError.refused("too_many")
                    refusal.isKept = false
                    throw refusal
                }
            }
            #expect(try await stage.effect(scope).status == .created)
            #expect(try await stage.effects("k14") == 1)
        }
    }
}
