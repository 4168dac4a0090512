import AMQP
import EventLoops
import TestSupport
import Testing

@Suite("Streams")
struct StreamTests {
    private func withStream(_ count: Int, _ body: (VirtualHost) async throws -> Void) async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("s", kind: .stream) }
            try await host.fill("s", (0..<count).map { "\($0)" })
            try await body(host)
        }
    }

    @Test("reading from the first gives everything with its offset, and leaves it there")
    func first() async throws {
        try await self.withStream(300) { host in
            for _ in 0..<2 {
                let inbox = Inbox()
                try await host.withConsumer("s", offset: .first, inbox: inbox) { _ in
                    try await inbox.wait { $0.count == 300 }
                }
                #expect(inbox.texts == (0..<300).map { "\($0)" })
                #expect(inbox.deliveries.map(\.streamOffset) == (0..<300).map { UInt64($0) })
            }
        }
    }

    @Test("reading from an offset begins there")
    func offset() async throws {
        try await self.withStream(100) { host in
            let inbox = Inbox()
            try await host.withConsumer("s", offset: .offset(60), inbox: inbox) { _ in
                try await inbox.wait { $0.count == 40 }
            }
            #expect(inbox.texts == (60..<100).map { "\($0)" })
        }
    }

    @Test("reading from next gives only what comes later, from last and from a time at least the end")
    func others() async throws {
        try await self.withStream(20) { host in
            let inbox = Inbox()
            try await host.withConsumer("s", offset: .next, inbox: inbox) { consumer in
                try await eventually("consuming") { consumer.isConsuming }
                try await host.fill("s", ["later"])
                try await inbox.wait { !$0.isEmpty }
            }
            #expect(inbox.texts == ["later"])
            for begin in [AMQPStreamOffset.last, .timestamp(1)] {
                let inbox = Inbox()
                try await host.withConsumer("s", offset: begin, inbox: inbox) { _ in
                    try await inbox.wait { $0.contains { $0.text == "later" } }
                }
            }
        }
    }

    @Test("after a cut reading goes on behind the last acknowledged message, nothing is left out")
    func resume() async throws {
        try await self.withStream(500) { host in
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                let consumer = AMQPConsumer(
                    configuration: try host.configuration(port: proxy.port),
                    queue: "s",
                    prefetch: 50,
                    maxBatch: 20,
                    offset: .offset(10),
                    logger: quiet
                )
                let acknowledged = Inbox()
                let cuts = Locked(0)
                try await consumer.run { deliveries in
                    let isCut =
                        cuts.withLock {
                            $0 += 1
                            return $0
                        } == 5
                    if isCut {
                        proxy.cut()
                        return .giveBack
                    }
                    acknowledged.add(deliveries)
                    if deliveries.last?.text == "499" { consumer.stop() }
                    return .acknowledgeAll
                }
                #expect(proxy.acceptedCount == 2)
                #expect(Set(acknowledged.texts) == Set((10..<500).map { "\($0)" }))
                // An acknowledgement that was on its way when the line was cut may cost one batch again, no more.
                #expect(acknowledged.deliveries.count <= 490 + 20)
            }
        }
    }
}
