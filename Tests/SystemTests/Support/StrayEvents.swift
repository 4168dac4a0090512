import AMQP
import Contracts
import Foundation
import Logging
import Messaging
import Primitives
import TestSupport

/// Events that a test publishes itself, in the name of a service.
struct StrayEvent: Sendable {
    let id: UUID
    let message: AMQPMessage

    /// An event of a type that nobody listens to, with any data: only the event log gets it.
    init(nobodyHears type: String, saying json: String) {
        let id = UUIDv7Source().next()
        self.id = id
        self.message = AMQPMessage(
            exchange: Topology.exchange,
            routingKey: "00.\(type)",
            body: Array(#"{"id":"\#(id.lowercased)","type":"\#(type)","data":\#(json)}"#.utf8),
            messageID: id.lowercased,
            type: type,
            contentType: "application/json"
        )
    }

    /// An event of the catalogue, as the relay of its source would send it.
    init<Payload: EventData>(_ data: Payload, about subject: UUID, sequence: Int64, id: UUID) throws {
        guard let definition = EventCatalogue.definition(of: Payload.type) else {
            throw TestFailure("\(Payload.type.rawValue) is not in the catalogue")
        }
        let attributes = EventAttributes(
            id: id,
            source: definition.source.rawValue,
            type: Payload.type,
            majorVersion: Payload.majorVersion,
            subject: subject.lowercased,
            time: Timestamp.text(Date()),
            sequence: sequence
        )
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        self.id = id
        self.message = AMQPMessage(
            exchange: Topology.exchange,
            routingKey: Topology.routingKey(type: Payload.type, subject: subject.lowercased),
            body: Array(try EventEnvelope.body(attributes, dataJSON: json)),
            messageID: id.lowercased,
            type: Payload.type.rawValue,
            contentType: EventEnvelope.contentType
        )
    }
}

extension RunningSuite {
    private static let quiet = Logger(label: "system-tests") { _ in SwiftLogNoOpLogHandler() }
    private static let window = 500

    /// Publishes straight to the exchange, in order; all of it is confirmed.
    func publish(_ events: [StrayEvent]) async throws {
        let publisher = AMQPPublisher(configuration: try AMQPConfiguration(url: self.vhost.url), logger: Self.quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            for start in stride(from: 0, to: events.count, by: Self.window) {
                let part = events[start..<min(start + Self.window, events.count)]
                let outcomes = await publisher.publish(part.map(\.message))
                guard outcomes.allSatisfy(\.isConfirmed) else { throw TestFailure("the broker refused events") }
            }
            group.cancelAll()
        }
    }

    /// How many messages of a queue are ready; those under way to a consumer do not count.
    func length(of queue: String) async throws -> Int {
        try await AMQPAdmin.withConnection(try AMQPConfiguration(url: self.vhost.url), logger: Self.quiet) {
            try await $0.passiveDeclare(queue).messages
        }
    }

    /// Waits until services listen: what is published before their queues are bound is in the event log alone.
    func awaitListeners(_ services: [String]) async throws {
        let queues = services.compactMap(ServiceName.init(rawValue:)).flatMap { Topology.queues(of: $0) }.map(\.name)
        let broker = try AMQPConfiguration(url: self.vhost.url)
        try await eventually("every queue to have a consumer", within: .seconds(30), every: .milliseconds(100)) {
            try await AMQPAdmin.withConnection(broker, logger: Self.quiet) { admin in
                for queue in queues where try await admin.passiveDeclare(queue).consumers == 0 { return false }
                return true
            }
        }
    }

    // MARK: A listener of our own

    /// Gives the test a queue that gets everything from now on, and keeps it over a restart of the broker.
    func listen(_ queue: String) async throws {
        try await AMQPAdmin.withConnection(try AMQPConfiguration(url: self.vhost.url), logger: Self.quiet) { admin in
            // Not a quorum queue: RabbitMQ 3.10 may leave one without a leader when killed soon after its declaration.
            try await admin.declareQueue(queue, kind: .classic)
            try await admin.bind(queue: queue, exchange: Topology.exchange, routingKey: "#")
        }
    }

    /// Takes what such a queue got, in order, each event once, until every one of these subjects was told the end of.
    func heard(by queue: String, untilEnded subjects: Set<String>) async throws -> [EventAttributes] {
        let configuration = try AMQPConfiguration(url: self.vhost.url)
        let consumer = AMQPConsumer(configuration: configuration, queue: queue, logger: Self.quiet)
        let arrived = Arrived()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { try await consumer.run { await arrived.add($0) } }
            try await eventually("what the listener got", within: .seconds(30)) {
                let missing = await arrived.missing(of: subjects)
                guard missing == 0 else {
                    throw TestFailure("\(missing) of \(subjects.count) after \(await arrived.events.count) events")
                }
                return true
            }
            consumer.stop()
        }
        return await arrived.events
    }

    private actor Arrived {
        private(set) var events: [EventAttributes] = []
        private var ended: Set<String> = []
        private var known: Set<UUID> = []

        func add(_ deliveries: [AMQPDelivery]) -> BatchSettlement {
            for delivery in deliveries {
                guard let event = try? EventEnvelope.attributes(in: Data(delivery.body)) else { continue }
                guard self.known.insert(event.id).inserted else { continue }
                self.events.append(event)
                if event.type == TransactionCompleted.type { self.ended.insert(event.subject) }
            }
            return .acknowledgeAll
        }

        func missing(of subjects: Set<String>) -> Int { subjects.subtracting(self.ended).count }
    }
}
