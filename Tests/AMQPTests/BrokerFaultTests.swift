import AMQP
import EventLoops
import TestSupport
import Testing

@Suite("When the broker fails", .serialized)
struct BrokerFaultTests {
    @Test("under an alarm a publisher waits without being stuck, and afterwards everything is confirmed")
    func alarm() async throws {
        try await PrivateBroker.with { own in
            try await own.broker.withVirtualHost { host in
                try await host.admin { try await $0.declareQueue("q") }
                var configuration = try host.configuration(heartbeat: 2)
                configuration.callLimit = .seconds(4)
                // The broker's own tool needs seconds to start, twice, while the messages wait.
                configuration.publishTimeout = .seconds(120)
                try await host.withPublisher(configuration) { publisher in
                    #expect(await publisher.publish(message("before", to: "q")).isConfirmed)
                    try await own.control("set_vm_memory_high_watermark", "absolute", "1")
                    // Large enough to fill every buffer between us and the broker, were it all sent.
                    let big = (0..<400).map { number in
                        AMQPMessage(
                            exchange: "",
                            routingKey: "q",
                            body: [UInt8](repeating: 7, count: 20_000),
                            messageID: "\(number)"
                        )
                    }
                    async let answers = publisher.publish(big)
                    try await eventually("blocked") { publisher.isBlocked }
                    // Not stuck: another call is queued and reaches its own deadline; heartbeats go on for longer than two.
                    try await Task.sleep(for: .seconds(6))
                    #expect(publisher.isConnected)
                    try await own.control("set_vm_memory_high_watermark", "0.6")
                    let outcomes = await answers
                    #expect(outcomes.allSatisfy { $0.isConfirmed })
                    #expect(!publisher.isBlocked)
                    #expect(await publisher.publish(message("after", to: "q")).isConfirmed)
                }
                await host.expectReady(402, in: "q")
            }
        }
    }

    @Test("a broker killed in a burst: what was confirmed is there, the rest is published again")
    func killed() async throws {
        try await PrivateBroker.with { own in
            // The virtual host is not deleted at the end: the node may still be recovering and is thrown away anyway.
            let host = VirtualHost(broker: own.broker, name: "/")
            try await host.admin { try await $0.declareQueue("q") }
            // The broker notes a new quorum queue in a file that it writes late: killed within about a second, it would
            // come back with a queue that never finds its leader.
            try await own.control("stop_app")
            try await own.control("start_app")
            let texts = (0..<12_000).map { "\($0)" }
            var configuration = try host.configuration()
            configuration.publishTimeout = .seconds(60)
            try await host.withPublisher(configuration) { publisher in
                let burst = Burst(publisher: publisher, queue: "q")
                let (confirmed, lost) = await burst.publish(texts, chunk: 6_000) { attempt in
                    guard attempt == 1 else { return }
                    do {
                        // Some of the chunk is on its way when the node dies.
                        try await eventually("a message of the second chunk") {
                            try await own.broker.queueLength("q") > 6_000
                        }
                        try own.kill()
                        try await own.start()
                    } catch {
                        Issue.record(error)
                    }
                }
                #expect(confirmed.count == texts.count)
                #expect(lost > 0)
            }
            let got = try await host.drain("q", distinct: texts.count)
            #expect(Set(got) == Set(texts))
        }
    }

    @Test("amqps works with the right name and authority, and with neither a wrong name nor a wrong authority")
    func tls() async throws {
        try await PrivateBroker.with { own in
            func look(_ host: String, _ authorities: String) async throws {
                let url = "amqps://guest:guest@\(host):\(own.tlsPort)?cacertfile=\(authorities)"
                try await AMQPAdmin.withConnection(AMQPConfiguration(url: url), logger: quiet) { admin in
                    _ = try await admin.declareQueue("q")
                }
            }
            try await look("localhost", own.authorities)
            // The certificate names localhost, not the address.
            let wrongName = await #expect(throws: AMQPError.self) { try await look("127.0.0.1", own.authorities) }
            #expect(wrongName?.code == .tlsFailed)
            let wrongAuthority = await #expect(throws: AMQPError.self) {
                try await look("localhost", own.otherAuthorities)
            }
            #expect(wrongAuthority?.code == .tlsFailed)
            let noFile = await #expect(throws: AMQPError.self) { try await look("localhost", "/nowhere/ca.pem") }
            #expect(noFile?.code == .tlsFailed)

            var secure = try AMQPConfiguration(url: "amqps://localhost:\(own.tlsPort)?cacertfile=\(own.authorities)")
            secure.heartbeat = .seconds(3)
            let host = VirtualHost(broker: own.broker, name: "/")
            let inbox = Inbox()
            try await host.withPublisher(secure) { publisher in
                try await host.withConsumer("q", secure, inbox: inbox) { _ in
                    let messages = (0..<1_000).map { message("\($0)", to: "q") }
                    #expect(await publisher.publish(messages).allSatisfy { $0.isConfirmed })
                    try await inbox.wait { $0.count == 1_000 }
                }
            }
            #expect(inbox.texts == (0..<1_000).map { "\($0)" })
        }
    }
}

extension Broker {
    /// How many messages are ready in a queue of the virtual host `/`.
    func queueLength(_ name: String) async throws -> Int {
        let configuration = try AMQPConfiguration(url: self.url)
        return try await AMQPAdmin.withConnection(configuration, logger: quiet) {
            try await $0.passiveDeclare(name).messages
        }
    }
}
