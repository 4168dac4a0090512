import AMQP
import EventLoops
import TestSupport
import Testing

@Suite("When the network fails")
struct NetworkFaultTests {
    @Test("idle connections survive many heartbeats, also while a handler takes its time")
    func idle() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                // A machine with other things to do may stand still for seconds: that is no silence of the broker yet.
                let configuration = try host.configuration(port: proxy.port, heartbeat: 4)
                let consumer = AMQPConsumer(configuration: configuration, queue: "q", logger: quiet)
                let (begun, handlerBegan) = AsyncStream.makeStream(of: Void.self)
                try await host.withPublisher(configuration) { publisher in
                    try await withThrowingDiscardingTaskGroup { group in
                        group.addTask {
                            try await consumer.run { _ in
                                handlerBegan.yield()
                                // The time is the point here: more than three times two heartbeats.
                                try? await Task.sleep(for: .seconds(25))
                                consumer.stop()
                                return .acknowledgeAll
                            }
                        }
                        #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
                        for await _ in begun { break }
                        try await Task.sleep(for: .seconds(24))
                        #expect(await publisher.publish(message("2", to: "q")).isConfirmed)
                    }
                    #expect(proxy.acceptedCount == 2)
                }
            }
            await host.expectReady(1, in: "q")
        }
    }

    @Test("a half-dead peer is noticed by its missing heartbeats, on both sides, and replaced")
    func halfDead() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                let configuration = try host.configuration(port: proxy.port, heartbeat: 2)
                let inbox = Inbox()
                try await host.withPublisher(configuration) { publisher in
                    try await host.withConsumer("q", configuration, inbox: inbox) { consumer in
                        #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
                        try await inbox.wait { $0.count == 1 }
                        proxy.stall()
                        let stalled = ContinuousClock.now
                        let outcome = await publisher.publish(message("2", to: "q"))
                        guard case .lost(let error) = outcome else {
                            Issue.record("\(outcome)")
                            return
                        }
                        #expect(error.code == .heartbeatMissed)
                        // Two heartbeats, and time for a machine with other things to do.
                        #expect(ContinuousClock.now - stalled < .seconds(30))
                        #expect(await publisher.publish(message("3", to: "q")).isConfirmed)
                        try await inbox.wait { $0.contains { $0.text == "3" } }
                        #expect(consumer.isConsuming)
                        #expect(proxy.acceptedCount == 4)
                    }
                }
            }
        }
    }

    @Test("a publish that is not confirmed in time costs the connection, and the next goes over a new one")
    func silence() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                // Heartbeats alone would notice nothing for two minutes.
                var configuration = try host.configuration(port: proxy.port, heartbeat: 60)
                // Long enough for a new connection and a disk that is busy: the third message has no more than this.
                configuration.publishTimeout = .seconds(8)
                try await host.withPublisher(configuration) { publisher in
                    #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
                    proxy.stall()
                    guard case .lost(let error) = await publisher.publish(message("2", to: "q")) else {
                        Issue.record("the stalled connection confirmed a message")
                        return
                    }
                    #expect(error.code == .timedOut)
                    #expect(await publisher.publish(message("3", to: "q")).isConfirmed)
                    #expect(proxy.acceptedCount == 2)
                }
            }
        }
    }

    @Test("a publish that blocks in the library is ended by the watchdog, and the publisher connects again")
    func watchdog() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q", kind: .classic) }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                var configuration = try host.configuration(port: proxy.port, heartbeat: 60)
                // The limit is also that of connecting.
                configuration.callLimit = .seconds(4)
                try await host.withPublisher(configuration) { publisher in
                    #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
                    proxy.stall()
                    let huge = AMQPMessage(
                        exchange: "",
                        routingKey: "q",
                        body: [UInt8](repeating: 1, count: 64_000_000),
                        messageID: "huge"
                    )
                    let outcome = await publisher.publish(huge)
                    guard case .lost(let error) = outcome else {
                        Issue.record("\(outcome)")
                        return
                    }
                    #expect(error.code == .callStuck)
                    #expect(await publisher.publish(message("2", to: "q")).isConfirmed)
                    #expect(proxy.acceptedCount == 2)
                }
            }
        }
    }

    @Test("a connection that ends while it is being made is noticed, and another one is made")
    func endsAtOnce() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                // The method frame of `confirm.select-ok` (AMQP 0-9-1): type 1, channel 1, four bytes, class 85, method 11.
                proxy.cut(behind: [1, 0, 1, 0, 0, 0, 4, 0, 85, 0, 11], times: 8)
                try await host.withPublisher(host.configuration(port: proxy.port)) { publisher in
                    try await eventually("a connection that lasts") {
                        proxy.acceptedCount > 8 && publisher.isConnected
                    }
                    #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
                }
            }
        }
    }

    @Test("connections cut in a burst: nothing confirmed is missing, what was lost is published again")
    func cutBurst() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            let texts = (0..<4_000).map { "\($0)" }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                try await host.withPublisher(host.configuration(port: proxy.port)) { publisher in
                    let burst = Burst(publisher: publisher, queue: "q")
                    let (confirmed, lost) = await burst.publish(texts, chunk: 500) { attempt in
                        if attempt.isMultiple(of: 3) { proxy.cut(after: 10_000) }
                    }
                    #expect(lost > 0)
                    #expect(confirmed.count == texts.count)
                    #expect(proxy.acceptedCount > 1)
                }
            }
            let got = try await host.drain("q", distinct: texts.count)
            #expect(Set(got) == Set(texts))
        }
    }
}

/// Publishes until everything is confirmed, as a relay does.
struct Burst {
    let publisher: AMQPPublisher
    let queue: String
    private static let maximumAttempts = 60

    /// - Returns: What is confirmed, and how often an answer was `lost`.
    func publish(
        _ texts: [String],
        chunk: Int,
        during: @escaping @Sendable (Int) async -> Void
    ) async -> (Set<String>, Int) {
        var confirmed: Set<String> = []
        var lost = 0
        var begin = 0
        var attempt = 0
        while begin < texts.count {
            var open = Array(texts[begin..<min(texts.count, begin + chunk)])
            begin += open.count
            while !open.isEmpty && attempt < Self.maximumAttempts {
                let messages = open.map { message($0, to: self.queue) }
                async let outcomes = self.publisher.publish(messages)
                await during(attempt)
                attempt += 1
                let pairs = zip(open, await outcomes)
                confirmed.formUnion(pairs.filter { $0.1.isConfirmed }.map(\.0))
                open = pairs.filter { !$0.1.isConfirmed }.map(\.0)
                lost += open.count
            }
        }
        return (confirmed, lost)
    }
}
