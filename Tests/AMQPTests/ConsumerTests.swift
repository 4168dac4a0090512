import AMQP
import EventLoops
import TestSupport
import Testing

@Suite("Consuming")
struct ConsumerTests {
    @Test("deliveries come in order, in batches no larger than asked for, one batch at a time")
    func batches() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            let texts = (0..<500).map { "\($0)" }
            try await host.fill("q", texts)
            let inbox = Inbox()
            let running = Locked(0)
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "q",
                prefetch: 60,
                maxBatch: 25,
                logger: quiet
            )
            try await consumer.run { deliveries in
                #expect(
                    running.withLock {
                        $0 += 1
                        return $0
                    } == 1
                )
                await Task.yield()
                inbox.add(deliveries)
                if inbox.deliveries.count == 500 { consumer.stop() }
                running.withLock { $0 -= 1 }
                return .acknowledgeAll
            }
            #expect(inbox.texts == texts)
            #expect(inbox.batchSizes.allSatisfy { (1...25).contains($0) })
            // The broker notices a moment later that the consumer's connection has ended.
            try await eventually("nothing is left, and nobody consumes") {
                try await host.admin { try await $0.passiveDeclare("q") } == .init(messages: 0, consumers: 0)
            }
        }
    }

    @Test("no more than the prefetch is held unsettled")
    func prefetch() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await host.fill("q", (0..<50).map { "\($0)" })
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "q",
                prefetch: 10,
                logger: quiet
            )
            try await consumer.run { _ in
                await host.expectReady(40, in: "q")
                consumer.stop()
                return .acknowledgeAll
            }
        }
    }

    @Test("rejected ones are dead-lettered, requeued ones come again, the rest is done")
    func settlement() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.declareDeadLettered("q")
            try await host.fill("q", ["0", "1", "2", "3"])
            let inbox = Inbox()
            let consumer = AMQPConsumer(configuration: try host.configuration(), queue: "q", logger: quiet)
            try await consumer.run { deliveries in
                inbox.add(deliveries)
                if inbox.deliveries.count == 5 { consumer.stop() }
                return BatchSettlement(
                    acknowledged: deliveries.count,
                    rejected: deliveries.indices.filter { deliveries[$0].text == "1" },
                    requeued: deliveries.indices.filter { deliveries[$0].text == "2" && !deliveries[$0].redelivered }
                )
            }
            #expect(inbox.texts == ["0", "1", "2", "3", "2"])
            #expect(inbox.deliveries[4].deliveryCount == 1)
            #expect(try await host.drain("dead-letters", distinct: 1) == ["1"])
            await host.expectReady(0, in: "q")
        }
    }

    @Test("one that is refused at the end of its batch takes no other along: the channel lives on")
    func refusedLast() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.declareDeadLettered("q")
            try await host.fill("q", ["0", "1", "2", "bad", "4", "5"])
            let inbox = Inbox()
            let record = LogRecord()
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "q",
                maxBatch: 1,
                logger: record.logger
            )
            try await consumer.run { deliveries in
                // A channel that the broker has closed would have given back what comes after.
                await host.expectReady(0, in: "q")
                inbox.add(deliveries)
                if inbox.deliveries.count >= 6 { consumer.stop() }
                return BatchSettlement(
                    acknowledged: deliveries.count,
                    rejected: deliveries.indices.filter { deliveries[$0].text == "bad" }
                )
            }
            #expect(inbox.texts == ["0", "1", "2", "bad", "4", "5"])
            #expect(try await host.drain("dead-letters", distinct: 1) == ["bad"])
            await host.expectReady(0, in: "q")
            #expect(record.messages.withLock { $0 } == ["consuming"])
        }
    }

    @Test("what is given back comes again in order, counted")
    func giveBack() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q", arguments: ["x-delivery-limit": .int64(10)]) }
            let texts = (0..<6).map { "\($0)" }
            try await host.fill("q", texts)
            let inbox = Inbox()
            let done = Inbox()
            let consumer = AMQPConsumer(configuration: try host.configuration(), queue: "q", maxBatch: 3, logger: quiet)
            try await consumer.run { deliveries in
                inbox.add(deliveries)
                if deliveries[0].deliveryCount < 2 && deliveries[0].text == "0" { return .giveBack }
                done.add(deliveries)
                if done.deliveries.count >= 6 { consumer.stop() }
                return .acknowledgeAll
            }
            #expect(done.texts == texts)
            #expect(inbox.texts.filter { $0 == "0" }.count == 3)
            #expect(done.deliveries[0].deliveryCount == 2)
            #expect(done.deliveries[0].redelivered)
        }
    }

    @Test("what was on its way when a batch was given back is not taken for the next channel's")
    func giveBackUnread() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareQueue(
                    "q",
                    arguments: ["x-single-active-consumer": .bool(true), "x-delivery-limit": .int64(10)]
                )
            }
            // Much more than is read at once.
            let body = [UInt8](repeating: 0, count: 4_000)
            let ids = (0..<800).map { "\($0)" }
            try await host.withPublisher { publisher in
                let outcomes = await publisher.publish(
                    ids.map { AMQPMessage(exchange: "", routingKey: "q", body: body, messageID: $0) }
                )
                #expect(outcomes.allSatisfy { $0.isConfirmed })
            }
            let done = Inbox()
            let record = LogRecord()
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "q",
                prefetch: 800,
                maxBatch: 10,
                logger: record.logger
            )
            try await consumer.run { deliveries in
                if deliveries[0].deliveryCount < 3 && deliveries[0].messageID == "0" { return .giveBack }
                done.add(deliveries)
                if done.deliveries.count >= 800 { consumer.stop() }
                return .acknowledgeAll
            }
            let wrong = zip(ids, done.deliveries).first { $0 != $1.messageID }
            #expect(done.deliveries.count == 800 && wrong == nil)
            #expect(record.messages.withLock { $0 } == Array(repeating: "consuming", count: 4))
        }
    }

    @Test("a queue that is deleted is noticed at once, declared by the hook, and consumed again")
    func queueGone() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            let inbox = Inbox()
            let (gone, goneSignal) = AsyncStream.makeStream(of: Void.self)
            let consumer = AMQPConsumer(
                configuration: try host.configuration(heartbeat: 60),
                queue: "q",
                onQueueGone: {
                    goneSignal.yield()
                    _ = try? await host.admin { try await $0.declareQueue("q") }
                },
                logger: quiet
            )
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask {
                    try await consumer.run { deliveries in
                        inbox.add(deliveries)
                        return .acknowledgeAll
                    }
                }
                try await host.fill("q", ["before"])
                try await inbox.wait { $0.count == 1 }
                let deleted = ContinuousClock.now
                try await host.admin { _ = try await $0.deleteQueue("q") }
                for await _ in gone { break }
                // Far below a heartbeat.
                #expect(ContinuousClock.now - deleted < .seconds(30))
                try await eventually("the queue is declared and consumed") { consumer.isConsuming }
                try await host.fill("q", ["after"])
                try await inbox.wait { $0.count == 2 }
                consumer.stop()
            }
            #expect(inbox.texts == ["before", "after"])
        }
    }

    @Test("a queue that is not there yet is made by the hook, and the connection lives on")
    func queueMissing() async throws {
        try await Broker.shared().withVirtualHost { host in
            let record = LogRecord()
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "late",
                onQueueGone: {
                    _ = try? await host.admin { try await $0.declareQueue("late") }
                    try? await host.fill("late", ["hello"])
                },
                logger: record.logger
            )
            let inbox = Inbox()
            try await consumer.run { deliveries in
                inbox.add(deliveries)
                consumer.stop()
                return .acknowledgeAll
            }
            #expect(inbox.texts == ["hello"])
            #expect(record.messages.withLock { $0 } == ["cannot consume", "consuming"])
        }
    }

    @Test("a graceful stop lets the running batch finish and be acknowledged, and leaves the rest")
    func gracefulStop() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await host.fill("q", (0..<10).map { "\($0)" })
            let consumer = AMQPConsumer(
                configuration: try host.configuration(),
                queue: "q",
                prefetch: 10,
                maxBatch: 4,
                logger: quiet
            )
            let handled = Locked(0)
            try await consumer.run { deliveries in
                consumer.stop()
                await Task.yield()
                handled.withLock { $0 += deliveries.count }
                return .acknowledgeAll
            }
            let count = handled.withLock { $0 }
            #expect((1...4).contains(count))
            await host.expectReady(10 - count, in: "q")
            #expect(!consumer.isConsuming)
        }
    }

    @Test("cancelling ends an idle consumer and closes its connection")
    func cancelled() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            let consumer = AMQPConsumer(configuration: try host.configuration(), queue: "q", logger: quiet)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await consumer.run { _ in .acknowledgeAll } }
                try await eventually("consuming") { consumer.isConsuming }
                group.cancelAll()
            }
            // The broker notices the end of a connection a moment later.
            try await eventually("no consumer") {
                try await host.admin { try await $0.passiveDeclare("q").consumers == 0 }
            }
        }
    }

    @Test("after a cut everything unsettled comes again, in order and flagged")
    func redelivery() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q", arguments: ["x-delivery-limit": .int64(20)]) }
            let texts = (0..<200).map { "\($0)" }
            try await host.fill("q", texts)
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                let consumer = AMQPConsumer(
                    configuration: try host.configuration(port: proxy.port),
                    queue: "q",
                    prefetch: 50,
                    maxBatch: 20,
                    logger: quiet
                )
                let inbox = Inbox()
                let batches = Locked(0)
                try await consumer.run { deliveries in
                    inbox.add(deliveries)
                    // The acknowledgement of every fourth batch finds no connection.
                    if batches.withLock({
                        $0 += 1
                        return $0
                    }) % 4 == 0 {
                        proxy.cut()
                    }
                    if Set(inbox.texts).count == 200 { consumer.stop() }
                    return .acknowledgeAll
                }
                let firsts = inbox.deliveries.filter { !$0.redelivered }.map(\.text)
                #expect(proxy.acceptedCount > 1)
                #expect(Set(inbox.texts) == Set(texts))
                #expect(inbox.deliveries.contains { $0.redelivered })
                #expect(Self.isInOrderOfFirstSight(inbox.texts.compactMap { Int($0) }))
                #expect(firsts == firsts.sorted { (Int($0) ?? 0) < (Int($1) ?? 0) })
            }
        }
    }

    /// Whether each number is at most one beyond the largest before it: steps back are repeats, gaps are not allowed.
    private static func isInOrderOfFirstSight(_ numbers: [Int]) -> Bool {
        var largest = -1
        for number in numbers {
            guard number <= largest + 1 else { return false }
            largest = max(largest, number)
        }
        return true
    }

    @Test("with a single active consumer the second takes over where the first was cut")
    func failover() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareQueue("q", arguments: ["x-single-active-consumer": .bool(true)])
            }
            let inboxes = [Inbox(), Inbox()]
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                let first = try host.configuration(port: proxy.port)
                try await host.withConsumer("q", first, inbox: inboxes[0]) { active in
                    try await eventually("the first consumes") { active.isConsuming }
                    try await host.withConsumer("q", inbox: inboxes[1]) { standby in
                        try await eventually("the second waits") { standby.isConsuming }
                        try await host.fill("q", (0..<20).map { "\($0)" })
                        try await inboxes[0].wait { $0.count == 20 }
                        #expect(inboxes[1].deliveries.isEmpty)
                        proxy.refuse(true)
                        proxy.cut()
                        try await host.fill("q", (20..<40).map { "\($0)" })
                        try await inboxes[1].wait { $0.contains { $0.text == "39" } }
                    }
                }
            }
            #expect(inboxes[0].texts == (0..<20).map { "\($0)" })
            #expect(inboxes[1].texts.suffix(20) == (20..<40).map { "\($0)" }[...])
        }
    }
}

extension VirtualHost {
    /// Waits until a queue has that many ready messages: the broker counts a little behind.
    func expectReady(_ count: Int, in queue: String, sourceLocation: SourceLocation = #_sourceLocation) async {
        do {
            try await self.admin { admin in
                try await eventually("\(count) ready") {
                    try await admin.passiveDeclare(queue).messages == count
                }
            }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
    }
}
