import EventLoops
import Foundation
import Postgres
import Primitives
import TestSupport
import Testing

@testable import AMQP
@testable import Messaging

/// Credits of one user, whose amounts are their places.
private struct Credits {
    let user = UUID()
    let events: [UUID]

    init(_ count: Int) { self.events = (0..<count).map { _ in ids.next() } }

    /// As the broker delivers them, having delivered each so often before.
    func deliveries(_ counts: [Int64]? = nil) throws -> [AMQPDelivery] {
        try self.events.indices.map { try self.delivery($0, before: counts?[$0] ?? 0) }
    }

    func delivery(_ index: Int, before count: Int64 = 0) throws -> AMQPDelivery {
        arrival(Array(try envelope(self.user, Int64(index), id: self.events[index])), before: count)
    }
}

private func arrival(_ body: [UInt8], before count: Int64 = 0) -> AMQPDelivery {
    AMQPDelivery(
        tag: 1,
        redelivered: count > 0,
        exchange: "",
        routingKey: Broker.queue,
        messageID: nil,
        correlationID: nil,
        type: nil,
        timestamp: nil,
        contentType: nil,
        headers: ["x-delivery-count": .int64(count)],
        body: body
    )
}

// The limit ends a test whose consumer waits for a database that it must not need.
@Suite("Recognising events without a transaction", .timeLimit(.minutes(5)))
struct MemoryTests {
    @Test("what was committed is noted, and acknowledged without a transaction, however often it was delivered")
    func shortcut() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(5), NotedEvents(), Till())
            let first = try kit.consumer(till.handlers(), recall: memory.recall())
            let settlement = await first.settle(try credits.deliveries())
            #expect(settlement == BatchSettlement(acknowledged: 5))
            #expect(memory.noted(in: "one") == Set(credits.events))
            #expect(memory.counted(.first) == 5)

            let other = try kit.consumer(till.handlers(), recall: memory.recall(), on: kit.unconnected())
            let again = await other.settle(try credits.deliveries([0, 1, 2, 7, 900]))
            #expect(again == BatchSettlement(acknowledged: 5))
            #expect(memory.asked == [credits.events, credits.events])
            #expect(memory.counted(.repeatFromMemory) == 5 && memory.counted(.repeatFromDatabase) == 0)
            #expect(till.seen == Array(0..<5))
        }
    }

    @Test("in another epoch no mark counts: the inbox decides, also one that was restored and has lost the events")
    func epochs() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(4), NotedEvents(), Till())
            for epoch in ["one", "two"] {
                let consumer = try kit.consumer(till.handlers(), recall: memory.recall(in: epoch))
                let settlement = await consumer.settle(try credits.deliveries())
                #expect(settlement == BatchSettlement(acknowledged: 4))
            }
            #expect(till.seen == Array(0..<4))
            #expect(memory.counted(.repeatFromDatabase) == 4 && memory.counted(.repeatFromMemory) == 0)
            #expect(memory.noted(in: "two") == Set(credits.events))

            try await kit.execute("DELETE FROM inbox")
            let restored = try kit.consumer(till.handlers(), recall: memory.recall(in: "three"))
            let settlement = await restored.settle(try credits.deliveries())
            #expect(settlement == BatchSettlement(acknowledged: 4))
            #expect(till.seen == [0, 1, 2, 3, 0, 1, 2, 3])
            #expect(memory.counted(.first) == 8)
            #expect(try await kit.number("SELECT count(*) FROM inbox") == 4)
        }
    }

    @Test("a memory that says nothing changes nothing, and is still told")
    func silent() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(3), NotedEvents(), Till())
            memory.beSilent()
            let consumer = try kit.consumer(till.handlers(), recall: memory.recall())
            for _ in 0..<2 {
                let settlement = await consumer.settle(try credits.deliveries())
                #expect(settlement == BatchSettlement(acknowledged: 3))
            }
            #expect(till.seen == Array(0..<3))
            #expect(memory.counted(.unknown) == 6)
            #expect(memory.counted(.first) == 3 && memory.counted(.repeatFromDatabase) == 3)
            #expect(memory.noted(in: "one") == Set(credits.events))
        }
    }

    @Test("while the database does not say what it is called, the memory is neither asked nor told")
    func nameless() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(3), NotedEvents(), Till())
            let consumer = try kit.consumer(till.handlers(), recall: memory.recall(in: nil))
            for _ in 0..<2 {
                let settlement = await consumer.settle(try credits.deliveries())
                #expect(settlement == BatchSettlement(acknowledged: 3))
            }
            #expect(till.seen == Array(0..<3))
            #expect(memory.asked.isEmpty && memory.all.isEmpty)
            #expect(memory.counted(.first) == 3 && memory.counted(.repeatFromDatabase) == 3)
        }
    }

    @Test("a batch of all kinds: bytes that are no event, one that is known, one of the inbox, and a new one twice")
    func mixed() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(3), NotedEvents(), Till())
            // The inbox has the first, without a mark.
            try await kit.processor(till.handlers()).process([try incoming(credits.user, 0, id: credits.events[0])])
            await memory.note([credits.events[1]], in: "one")
            let consumer = try kit.consumer(till.handlers(), recall: memory.recall())
            let settlement = await consumer.settle([
                try credits.delivery(1), arrival(Array("{".utf8)), try credits.delivery(0), try credits.delivery(2),
                try credits.delivery(2),
            ])
            #expect(settlement == BatchSettlement(acknowledged: 5, rejected: [1]))
            #expect(till.seen == [0, 2])
            #expect(memory.counted(.repeatFromMemory) == 1)
            #expect(memory.counted(.first) == 1 && memory.counted(.repeatFromDatabase) == 2)
            #expect(memory.noted(in: "one") == Set(credits.events))
        }
    }

    @Test("an event that was parked stays parked when it comes again, and after its retry it has had its effect")
    func parked() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(2), NotedEvents(), Till(refusing: [0]))
            let consumer = try kit.consumer(till.handlers(), recall: memory.recall())
            let settlement = await consumer.settle(try credits.deliveries())
            #expect(settlement == BatchSettlement(acknowledged: 2))
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 2)
            #expect(memory.noted(in: "one") == Set(credits.events))
            #expect(memory.counted(.first) == 2)

            let other = try kit.consumer(till.handlers(), recall: memory.recall(), on: kit.unconnected())
            let again = await other.settle(try credits.deliveries())
            #expect(again == BatchSettlement(acknowledged: 2))
            #expect(try await kit.number("SELECT count(*) FROM parked_events") == 2)
            till.accept(0)
            #expect(try await kit.retry(credits.user, till.handlers()) == .applied(2))
            let afterRetry = await other.settle(try credits.deliveries())
            #expect(afterRetry == BatchSettlement(acknowledged: 2))
            #expect(try await kit.effects(of: credits.user) == [0, 1])
        }
    }

    @Test("what is run alone is noted like the others, the first time and when the inbox has it")
    func alone() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(3), NotedEvents(), Till())
            try await kit.processor(till.handlers()).process([try incoming(credits.user, 1, id: credits.events[1])])
            let consumer = try kit.consumer(till.handlers(), recall: memory.recall())
            let settlement = await consumer.settle(try credits.deliveries([3, 3, 0]))
            #expect(settlement == BatchSettlement(acknowledged: 3))
            #expect(till.seen == [1, 0, 2])
            #expect(memory.noted(in: "one") == Set(credits.events))
            #expect(memory.counted(.first) == 2 && memory.counted(.repeatFromDatabase) == 1)
            #expect(try await kit.number("SELECT count(*) FROM lone_runs") == 0)
        }
    }

    @Test("a batch that is cut off is given back, and nothing of it is noted")
    func cutOff() async throws {
        try await Kit.with { kit in
            let (credits, memory, till) = (Credits(2), NotedEvents(), Till())
            let handlers = till.handlers { _ in try await Task.sleep(for: .seconds(600)) }
            let consumer = try kit.consumer(handlers, recall: memory.recall())
            let deliveries = try credits.deliveries()
            let settled = Locked<BatchSettlement?>(nil)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    let settlement = await consumer.settle(deliveries)
                    settled.withLock { $0 = settlement }
                }
                try await eventually("the handler") { till.seen == [0] }
                group.cancelAll()
            }
            #expect(settled.withLock { $0 } == BatchSettlement.giveBack)
            #expect(memory.all.isEmpty && memory.counted(.first) == 0)
            #expect(try await kit.number("SELECT count(*) FROM inbox") == 0)
        }
    }

    @Test("a queue that holds everything once more is emptied by a consumer that has no database")
    func resent() async throws {
        try await Kit.with { kit in
            try await withTestVhost { vhost in
                let broker = try Broker.configuration(vhost.url)
                try await Broker.declareQueue(broker)
                let (users, memory, till) = ((0..<3).map { _ in UUID() }, NotedEvents(), Till())
                let bodies = try (0..<300).map { try envelope(users[$0 % 3], Int64($0)) }
                try await Broker.send(bodies, broker)
                let first = try kit.consumer(till.handlers(), of: broker, recall: memory.recall())
                try await Self.run(first, until: "all to be noted") { memory.noted(in: "one").count == 300 }
                let handled = till.seen.count
                try await Broker.send(bodies, broker)
                let other = try kit.consumer(
                    till.handlers(),
                    of: broker,
                    recall: memory.recall(),
                    on: kit.unconnected()
                )
                try await Self.run(other, until: "all to be recognised") { memory.counted(.repeatFromMemory) >= 300 }
                try await eventually("an empty queue") { try await Broker.length(Broker.queue, broker) == 0 }
                #expect(till.seen.count == handled)
                #expect(try await kit.number("SELECT count(*) FROM effects") == 300)
            }
        }
    }

    /// Lets a consumer go on until something is done, and then acknowledge what it has handled.
    private static func run(
        _ consumer: EventConsumer,
        until what: String,
        _ isDone: () async throws -> Bool
    ) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await consumer.run() }
            try await eventually(what, within: .seconds(60)) { try await isDone() }
            consumer.consumer.stop()
        }
    }
}
