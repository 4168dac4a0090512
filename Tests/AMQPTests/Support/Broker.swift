import AMQP
import Foundation
import FoundationNetworking
import Logging
import Testing

/// Why a test cannot run here.
struct Unavailable: Error, CustomStringConvertible {
    let description: String
}

let quiet = Logger(label: "amqp-tests") { _ in SwiftLogNoOpLogHandler() }

/// A broker that tests may use, with its management API.
struct Broker: Sendable {
    let url: String
    let management: URL

    /// The broker of this test run, from the environment.
    static func shared() throws -> Broker {
        let environment = ProcessInfo.processInfo.environment
        guard let url = environment["TRANSFA_TEST_RABBITMQ_URL"] else {
            throw Unavailable(description: "TRANSFA_TEST_RABBITMQ_URL is not set: these tests need a RabbitMQ")
        }
        guard let text = environment["TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL"], let management = URL(string: text) else {
            throw Unavailable(description: "TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL is not set: these tests need it")
        }
        return Broker(url: url, management: management)
    }

    /// Lends a virtual host of its own.
    func withVirtualHost(_ body: (VirtualHost) async throws -> Void) async throws {
        let name = "amqp-tests-\(UUID().uuidString.lowercased().prefix(8))"
        let host = VirtualHost(broker: self, name: name)
        try await self.send("PUT", "vhosts/\(name)")
        let user = self.management.user ?? "guest"
        try await self.send("PUT", "permissions/\(name)/\(user)", #"{"configure":".*","write":".*","read":".*"}"#)
        do {
            try await body(host)
        } catch {
            try await self.send("DELETE", "vhosts/\(name)")
            throw error
        }
        try await self.send("DELETE", "vhosts/\(name)")
    }

    @discardableResult
    func send(_ method: String, _ path: String, _ body: String = "") async throws -> Data {
        guard var parts = URLComponents(url: self.management, resolvingAgainstBaseURL: false) else {
            throw Unavailable(description: "the management URL cannot be used")
        }
        let credentials = Data("\(parts.user ?? "guest"):\(parts.password ?? "guest")".utf8).base64EncodedString()
        parts.user = nil
        parts.password = nil
        parts.percentEncodedPath = "/api/\(path)"
        var request = URLRequest(url: try #require(parts.url))
        request.httpMethod = method
        request.setValue("Basic \(credentials)", forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        if !body.isEmpty { request.httpBody = Data(body.utf8) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw Unavailable(
                description: "\(method) \(path) answered \(status): \(String(decoding: data, as: UTF8.self))"
            )
        }
        return data
    }
}

/// A virtual host of one test.
struct VirtualHost: Sendable {
    let broker: Broker
    let name: String

    /// How to reach it, directly or through something that listens on another port.
    func configuration(port: UInt16? = nil, heartbeat: Int = 10) throws -> AMQPConfiguration {
        var configuration = try AMQPConfiguration(url: self.broker.url)
        if let port { configuration.hosts = [.init(name: "127.0.0.1", port: port)] }
        configuration.virtualHost = self.name
        configuration.heartbeat = .seconds(heartbeat)
        configuration.minimumBackoff = .milliseconds(20)
        configuration.maximumBackoff = .milliseconds(200)
        return configuration
    }

    /// Runs an admin of its own.
    @discardableResult
    func admin<Value>(_ body: (AMQPAdmin) async throws -> Value) async throws -> Value {
        try await AMQPAdmin.withConnection(self.configuration(), logger: quiet, body)
    }

    /// Lends a publisher that runs.
    func withPublisher(
        _ configuration: AMQPConfiguration? = nil,
        window: Int = 100,
        _ body: (AMQPPublisher) async throws -> Void
    ) async throws {
        let configuration = try configuration ?? self.configuration()
        let publisher = AMQPPublisher(configuration: configuration, window: window, logger: quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            try await body(publisher)
            group.cancelAll()
        }
    }

    /// Declares a queue whose rejected messages go to the queue `dead-letters`.
    func declareDeadLettered(_ queue: String) async throws {
        try await self.admin { admin in
            try await admin.declareExchange("dead", kind: .fanout)
            try await admin.declareQueue("dead-letters")
            try await admin.bind(queue: "dead-letters", exchange: "dead", routingKey: "")
            try await admin.declareQueue(queue, arguments: ["x-dead-letter-exchange": .string("dead")])
        }
    }

    /// Publishes texts to a queue through the default exchange and expects them confirmed.
    func fill(_ queue: String, _ texts: [String]) async throws {
        try await self.withPublisher { publisher in
            let outcomes = await publisher.publish(texts.map { message($0, to: queue) })
            #expect(outcomes.allSatisfy { $0.isConfirmed })
        }
    }

    /// Reads what is in a queue until `count` different messages have come.
    func drain(_ queue: String, distinct count: Int) async throws -> [String] {
        let inbox = Inbox()
        try await self.withConsumer(queue, inbox: inbox) { _ in
            try await inbox.wait { Set($0.map(\.messageID)).count >= count }
        }
        return inbox.texts
    }

    /// Lends a consumer that runs and acknowledges all that comes.
    func withConsumer(
        _ queue: String,
        _ configuration: AMQPConfiguration? = nil,
        prefetch: UInt16 = 200,
        offset: AMQPStreamOffset? = nil,
        inbox: Inbox,
        _ body: (AMQPConsumer) async throws -> Void
    ) async throws {
        let consumer = AMQPConsumer(
            configuration: try configuration ?? self.configuration(),
            queue: queue,
            prefetch: prefetch,
            offset: offset,
            logger: quiet
        )
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await consumer.run { deliveries in
                    inbox.add(deliveries)
                    return .acknowledgeAll
                }
            }
            try await body(consumer)
            consumer.stop()
        }
    }
}

/// A message whose body and id are the text.
func message(_ text: String, exchange: String = "", to key: String) -> AMQPMessage {
    AMQPMessage(exchange: exchange, routingKey: key, body: Array(text.utf8), messageID: text)
}
