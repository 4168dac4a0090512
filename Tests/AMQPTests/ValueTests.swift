import Testing

@testable import AMQP

@Suite("Configuration and values")
struct ValueTests {
    @Test("a URL gives hosts, credentials, virtual host and parameters")
    func url() throws {
        let configuration = try AMQPConfiguration(
            url: "amqp://us%65r:p%40ss@one:1,[::1]:2,three/my%2Fhost?heartbeat=7&connection_timeout=250"
        )
        #expect(
            configuration.hosts == [
                .init(name: "one", port: 1), .init(name: "::1", port: 2), .init(name: "three", port: 5_672),
            ]
        )
        #expect(configuration.user == "user")
        #expect(configuration.password == "p@ss")
        #expect(configuration.virtualHost == "my/host")
        #expect(configuration.heartbeat == .seconds(7))
        #expect(configuration.connectTimeout == .milliseconds(250))
        #expect(configuration.tls == nil)
    }

    @Test("amqps turns TLS on, with its own port and authorities")
    func secureURL() throws {
        let configuration = try AMQPConfiguration(url: "amqps://broker?cacertfile=/tmp/ca.pem")
        #expect(configuration.hosts == [.init(name: "broker", port: 5_671)])
        #expect(configuration.tls?.authoritiesFile == "/tmp/ca.pem")
        #expect(configuration.virtualHost == "/")
    }

    @Test(
        "a URL that cannot be used is refused without showing the password",
        arguments: [
            "http://host", "amqp://u:secret@", "amqp://u:secret@host:0", "amqp://u:secret@host:x",
            "amqp://u:secret@a,,b",
            "amqp://u:secret@host/%zz", "amqp://u:secret%00@host", "amqp://u:secret@host?heartbeat=0",
            "amqp://u:secret@host?verify=verify_none", "amqp://u:secret@host?cacertfile=/x",
            "amqp://u:secret@host?heartbeat",
        ]
    )
    func badURL(_ url: String) throws {
        let error = #expect(throws: AMQPError.self) { try AMQPConfiguration(url: url) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("the description of a configuration shows no credentials")
    func redaction() throws {
        let configuration = try AMQPConfiguration(url: "amqp://someone:secret@host/v")
        #expect("\(configuration)" == "amqp://host:5672 vhost v")
    }

    @Test("pauses double up to the maximum and begin again after a reset")
    func backoff() {
        var backoff = Backoff(minimum: .milliseconds(100), maximum: .milliseconds(500))
        let pauses = (0..<4).map { _ in backoff.pause(jitter: 1) }
        #expect(pauses == [.milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(500)])
        backoff.reset()
        #expect(backoff.pause(jitter: 0.5) == .milliseconds(50))
    }

    @Test("hosts take turns")
    func rotation() {
        let hosts = ["a", "b"].map { AMQPConfiguration.Host(name: $0, port: 1) }
        var rotation = HostRotation(hosts, start: 1)
        #expect((0..<3).map { _ in rotation.next().name } == ["b", "a", "b"])
    }

    @Test("a settlement covers a batch only when each delivery is named")
    func settlement() {
        #expect(BatchSettlement.acknowledgeAll.covers(3))
        #expect(!BatchSettlement.giveBack.covers(1))
        #expect(!BatchSettlement(acknowledged: 1, rejected: [1]).covers(3))
        #expect(BatchSettlement(acknowledged: 1, rejected: [1], requeued: [2]).covers(3))
        #expect(BatchSettlement.acknowledgeAll.lastAcknowledged(of: 3) == 2)
        #expect(BatchSettlement.giveBack.lastAcknowledged(of: 3) == nil)
        #expect(BatchSettlement(acknowledged: 3, rejected: [2]).lastAcknowledged(of: 3) == 1)
        #expect(BatchSettlement(acknowledged: 3, rejected: [2], requeued: [1]).lastAcknowledged(of: 3) == 0)
        #expect(BatchSettlement(acknowledged: 1, rejected: [0]).lastAcknowledged(of: 1) == nil)
    }

    @Test("messages that the protocol cannot carry are found before they are sent")
    func defects() {
        let long = String(repeating: "k", count: 256)
        var message = AMQPMessage(exchange: "", routingKey: "q", body: [], messageID: "1")
        #expect(message.defect(headerLimit: 1_000) == nil)
        message.headers = ["a": .string(String(repeating: "v", count: 1_000))]
        #expect(message.defect(headerLimit: 1_000)?.code == .invalidMessage)
        message.headers = [long: .bool(true)]
        #expect(message.defect(headerLimit: 1_000)?.code == .invalidMessage)
        message = AMQPMessage(exchange: "", routingKey: long, body: [], messageID: "1")
        #expect(message.defect(headerLimit: 1_000)?.code == .invalidMessage)
    }
}
