import Logging
import Messaging
import Redis
import ServiceTestSupport
import TestSupport
import Testing

@testable import ServiceKit

private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Messages from outside, against a real Redis that may take as long as it likes.
@Suite("what is remembered of messages", .serialized)
struct MessageMemoryTests {
    /// Takes messages as a service does, and counts what reached its database.
    private actor Books {
        private(set) var stored: [String] = []

        /// True when it was new.
        func take(_ id: String) -> Bool {
            defer { self.stored.append(id) }
            return !self.stored.contains(id)
        }
    }

    private static func memory(_ redis: RedisClient?, epoch: String = "one", service: String = "auth") -> MessageMemory
    {
        MessageMemory(
            redis.map { PatientRedis($0, patience: .seconds(60)) },
            epoch: DatabaseEpoch(asking: { epoch }, lifetime: .seconds(600)),
            service: service,
            metrics: IdempotencyMetrics(PrometheusRegistry())
        )
    }

    private func withRedis(_ body: @Sendable @escaping (RedisClient) async throws -> Void) async throws {
        try await withTestRedis { url in
            let client = try RedisClient(configuration: try RedisConfiguration(url: url), logger: quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await client.run() }
                _ = await client.waitUntilConnected()
                try await body(client)
                group.cancelAll()
            }
        }
    }

    @Test("a message that comes again reaches nobody, one that was not committed does")
    func again() async throws {
        try await self.withRedis { redis in
            struct Failure: Error {}
            let (memory, books) = (Self.memory(redis), Books())
            await #expect(throws: Failure.self) { try await memory.once("evt_1") { throw Failure() } }
            let first = try await memory.once("evt_1") { await books.take("evt_1") }
            let second = try await memory.once("evt_1") { await books.take("evt_1") }
            #expect(first && !second)
            #expect(await books.stored == ["evt_1"])
        }
    }

    @Test("another history, another service and an emptied Redis know nothing, and the books decide")
    func unknown() async throws {
        try await self.withRedis { redis in
            let books = Books()
            _ = try await Self.memory(redis).once("evt_1") { await books.take("evt_1") }
            let others = [
                Self.memory(redis, epoch: "two"), Self.memory(redis, service: "notification"), Self.memory(nil),
            ]
            for other in others {
                let isNew = try await other.once("evt_1") { await books.take("evt_1") }
                #expect(!isNew)
            }
            _ = try await redis.send(RedisCommand("FLUSHDB"))
            let isNew = try await Self.memory(redis).once("evt_1") { await books.take("evt_1") }
            #expect(!isNew)
            #expect(await books.stored.count == 5)
        }
    }
}
