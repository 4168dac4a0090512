import AMQP
import Foundation
import Testing

@Suite("Publishing")
struct PublisherTests {
    @Test("confirmed messages are in their queue, in order and unchanged")
    func confirmed() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                try await admin.declareExchange("events")
                try await admin.declareQueue("q")
                try await admin.bind(queue: "q", exchange: "events", routingKey: "00.#")
            }
            var first = message("first", exchange: "events", to: "00.user.created")
            first.correlationID = "c"
            first.type = "user.created"
            first.timestamp = 1_795_000_000
            first.contentType = "application/cloudevents+json"
            first.headers = [
                "s": .string("text"), "i": .int64(-5), "b": .bool(true), "t": .timestamp(7), "x": .bytes([0, 255]),
                "d": .double(0.5), "l": .list([.int64(1), .string("a")]), "m": .table(["k": .bool(false)]),
            ]
            let big = AMQPMessage(
                exchange: "events",
                routingKey: "00.big",
                body: (0..<400_000).map { UInt8(truncatingIfNeeded: $0) },
                messageID: "big"
            )
            let empty = AMQPMessage(exchange: "events", routingKey: "00.empty", body: [], messageID: "empty")
            let sent = [first, big, empty]
            try await host.withPublisher { publisher in
                let outcomes = await publisher.publish(sent)
                #expect(outcomes.count == 3)
                #expect(outcomes.allSatisfy { $0.isConfirmed })
            }
            let inbox = Inbox()
            try await host.withConsumer("q", inbox: inbox) { _ in try await inbox.wait { $0.count == 3 } }
            let got = inbox.deliveries
            #expect(got.map(\.messageID) == ["first", "big", "empty"])
            #expect(got.map(\.body) == sent.map(\.body))
            #expect(got[0].headers == first.headers)
            #expect(got[0].routingKey == "00.user.created")
            #expect(got[0].exchange == "events")
            #expect(got[0].correlationID == "c")
            #expect(got[0].type == "user.created")
            #expect(got[0].timestamp == 1_795_000_000)
            #expect(got[0].contentType == "application/cloudevents+json")
            #expect(got[0].deliveryCount == 0)
            #expect(!got[0].redelivered)
        }
    }

    @Test("an unroutable mandatory message comes back, its neighbours are confirmed")
    func unroutable() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await host.withPublisher { publisher in
                var optional = message("3", to: "nowhere")
                optional.mandatory = false
                let outcomes = await publisher.publish([
                    message("1", to: "q"), message("2", to: "nowhere"), optional, message("4", to: "q"),
                ])
                #expect(outcomes.map(\.isConfirmed) == [true, false, true, true])
                guard case .returned(code: 312, text: "NO_ROUTE") = outcomes[1] else {
                    Issue.record("\(outcomes[1])")
                    return
                }
            }
        }
    }

    @Test("a publish to a missing exchange is lost with 404 and the publisher goes on over the same connection")
    func missingExchange() async throws {
        let broker = try Broker.shared()
        try await broker.withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await Proxy.with(target: host.configuration().hosts[0].port) { proxy in
                try await host.withPublisher(host.configuration(port: proxy.port)) { publisher in
                    // Everything behind the bad one goes onto a channel that the broker has closed: no call fails there.
                    let bad = await publisher.publish([
                        message("1", exchange: "missing", to: "q"), message("2", to: "q"),
                    ])
                    for outcome in bad {
                        guard case .lost(let error) = outcome else {
                            Issue.record("\(outcome)")
                            continue
                        }
                        #expect(error.code == .channelClosed)
                        #expect(error.isNotFound)
                    }
                    let good = await publisher.publish(message("3", to: "q"))
                    #expect(good.isConfirmed)
                    #expect(proxy.acceptedCount == 1)
                }
            }
            #expect(try await host.drain("q", distinct: 1) == ["3"])
        }
    }

    @Test("a full queue that rejects is a rejection")
    func rejected() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { admin in
                let arguments: [String: AMQPValue] = [
                    "x-max-length": .int64(1), "x-overflow": .string("reject-publish"),
                ]
                try await admin.declareQueue("q", kind: .quorum, arguments: arguments)
            }
            try await host.withPublisher(window: 1) { publisher in
                let outcomes = await publisher.publish((0..<10).map { message("\($0)", to: "q") })
                #expect(outcomes[0].isConfirmed)
                #expect(Self.rejectedCount(outcomes) >= 5)
                #expect(Self.rejectedCount(outcomes) + outcomes.filter(\.isConfirmed).count == 10)
            }
        }
    }

    @Test("a window of one and a window of many confirm everything in order", arguments: [1, 7, 100])
    func windows(window: Int) async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            let count = window == 1 ? 100 : 3_000
            let texts = (0..<count).map { "\($0)" }
            try await host.withPublisher(window: window) { publisher in
                let outcomes = await publisher.publish(texts.map { message($0, to: "q") })
                #expect(outcomes.allSatisfy { $0.isConfirmed })
            }
            #expect(try await host.drain("q", distinct: count) == texts)
        }
    }

    @Test("calls at the same time each get their own answers")
    func concurrent() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await host.withPublisher(window: 5) { publisher in
                await withDiscardingTaskGroup { group in
                    for caller in 0..<20 {
                        group.addTask {
                            let texts = (0..<20).map { "\(caller)-\($0)" }
                            let keys = (0..<20).map { $0 == caller ? "nowhere" : "q" }
                            let outcomes = await publisher.publish(zip(texts, keys).map { message($0, to: $1) })
                            #expect(outcomes.map(\.isConfirmed) == keys.map { $0 == "q" })
                        }
                    }
                }
            }
        }
    }

    @Test("a message that cannot be encoded is refused alone")
    func invalid() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            try await host.withPublisher { publisher in
                let long = String(repeating: "k", count: 256)
                let outcomes = await publisher.publish([
                    message("1", to: "q"), message("2", to: long), message("3", to: "q"),
                ])
                #expect(outcomes.map(\.isConfirmed) == [true, false, true])
                guard case .lost(let error) = outcomes[1] else { return }
                #expect(error.code == .invalidMessage)
            }
        }
    }

    @Test("without a broker a publish waits until its deadline and is lost")
    func deadline() async throws {
        var configuration = try AMQPConfiguration(url: "amqp://127.0.0.1:\(Sockets.freePort())")
        configuration.publishTimeout = .milliseconds(300)
        configuration.maximumWaiting = 2
        let publisher = AMQPPublisher(configuration: configuration, logger: quiet)
        await withDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            let tooMany = await publisher.publish((0..<3).map { message("\($0)", to: "q") })
            #expect(Self.codes(tooMany) == [.overloaded, .overloaded, .overloaded])
            let waiting = await publisher.publish((0..<2).map { message("\($0)", to: "q") })
            #expect(Self.codes(waiting) == [.timedOut, .timedOut])
            #expect(!publisher.isConnected)
            group.cancelAll()
        }
    }

    @Test("cancelling run answers what is open and everything later")
    func cancelled() async throws {
        let configuration = try AMQPConfiguration(url: "amqp://127.0.0.1:\(Sockets.freePort())")
        let publisher = AMQPPublisher(configuration: configuration, logger: quiet)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                let outcomes = await publisher.publish([message("1", to: "q")])
                #expect(Self.codes(outcomes) == [.stopped])
            }
            group.addTask {
                await withTaskGroup(of: Void.self) { inner in
                    inner.addTask { await publisher.run() }
                    inner.cancelAll()
                }
            }
            await group.waitForAll()
        }
        #expect(Self.codes(await publisher.publish([message("2", to: "q")])) == [.stopped])
    }

    @Test("a host that is down is passed over")
    func hosts() async throws {
        try await Broker.shared().withVirtualHost { host in
            try await host.admin { try await $0.declareQueue("q") }
            var configuration = try host.configuration()
            let dead = AMQPConfiguration.Host(name: "127.0.0.1", port: try Sockets.freePort())
            configuration.hosts = [dead] + configuration.hosts + [dead]
            try await host.withPublisher(configuration) { publisher in
                #expect(await publisher.publish(message("1", to: "q")).isConfirmed)
            }
        }
    }

    @Test("a wrong password is a refused login")
    func login() async throws {
        let host = try AMQPConfiguration(url: Broker.shared().url).hosts[0]
        let wrong = try AMQPConfiguration(url: "amqp://guest:wrong@\(host.name):\(host.port)")
        let error = await #expect(throws: AMQPError.self) {
            try await AMQPAdmin.withConnection(wrong, logger: quiet) { try await $0.purge("q") }
        }
        #expect(error?.code == .loginRefused)
        #expect(error?.replyCode == 403)
        var parts = try #require(URLComponents(string: Broker.shared().url))
        parts.percentEncodedPath = "/no-such-host"
        let elsewhere = try AMQPConfiguration(url: try #require(parts.string))
        let refused = await #expect(throws: AMQPError.self) {
            try await AMQPAdmin.withConnection(elsewhere, logger: quiet) { try await $0.purge("q") }
        }
        #expect(refused?.code == .loginRefused)
        #expect(refused?.replyCode == 530)
    }

    private static func rejectedCount(_ outcomes: [PublishOutcome]) -> Int {
        outcomes.count { outcome in
            guard case .rejected = outcome else { return false }
            return true
        }
    }

    private static func codes(_ outcomes: [PublishOutcome]) -> [AMQPError.Code] {
        outcomes.compactMap { outcome in
            guard case .lost(let error) = outcome else { return nil }
            return error.code
        }
    }
}
