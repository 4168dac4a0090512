import AMQP
import Contracts
import EventLoops
import Foundation
import Logging
import TestSupport
import Testing

@testable import Messaging

/// The broker's side of a story.
enum Broker {
    /// The queue of the only service that these stories let listen.
    static let queue = "transaction.p0"

    static func configuration(_ url: String) throws -> AMQPConfiguration {
        var configuration = try AMQPConfiguration(url: url)
        configuration.minimumBackoff = .milliseconds(20)
        configuration.maximumBackoff = .milliseconds(500)
        return configuration
    }

    /// A queue as the topology declares it, with its dead letters, and nothing bound to it.
    static func declareQueue(_ configuration: AMQPConfiguration) async throws {
        try await AMQPAdmin.withConnection(configuration, logger: quiet) { admin in
            try await admin.declareExchange(Topology.deadLetterExchange, kind: .fanout)
            try await admin.declareQueue(Topology.deadLetterQueue, kind: .quorum)
            try await admin.bind(
                queue: Topology.deadLetterQueue,
                exchange: Topology.deadLetterExchange,
                routingKey: "#"
            )
            try await admin.declareQueue(
                self.queue,
                kind: .quorum,
                arguments: [
                    "x-single-active-consumer": .bool(true),
                    "x-dead-letter-exchange": .string(Topology.deadLetterExchange),
                ]
            )
        }
    }

    /// Puts bodies into the queue, past the exchange.
    ///
    /// What the broker does not confirm is sent again, as a relay does: a quorum queue that is being declared is found
    /// before it has a leader, and what comes then is rejected.
    static func send(_ bodies: [Data], _ configuration: AMQPConfiguration) async throws {
        let publisher = AMQPPublisher(configuration: configuration, logger: quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            var open = bodies.map { AMQPMessage(exchange: "", routingKey: self.queue, body: Array($0), messageID: "m") }
            try await eventually("all to be confirmed") {
                let outcomes = await publisher.publish(open, stoppingAtFailure: true)
                open = zip(open, outcomes).filter { !$0.1.isConfirmed }.map(\.0)
                return open.isEmpty
            }
            group.cancelAll()
        }
    }

    /// How many messages a queue has ready.
    static func length(_ queue: String, _ configuration: AMQPConfiguration) async throws -> Int {
        try await AMQPAdmin.withConnection(configuration, logger: quiet) { try await $0.passiveDeclare(queue).messages }
    }
}

/// What came out of a queue.
final class Arrivals: Sendable {
    private let events = Locked<[EventAttributes]>([])

    var all: [EventAttributes] { self.events.withLock { $0 } }

    /// Collects from transaction's queue while `body` runs.
    func collect(_ configuration: AMQPConfiguration, _ body: () async throws -> Void) async throws {
        let consumer = AMQPConsumer(configuration: configuration, queue: Broker.queue, logger: quiet)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                try await consumer.run { deliveries in
                    let arrived = deliveries.compactMap { try? EventEnvelope.attributes(in: Data($0.body)) }
                    self.events.withLock { $0 += arrived }
                    return .acknowledgeAll
                }
            }
            try await body()
            consumer.stop()
        }
    }

    /// The sequences of each subject in the order they came, repeats left out.
    var sequences: [String: [Int64]] {
        var seen: Set<UUID> = []
        var result: [String: [Int64]] = [:]
        for event in self.all where seen.insert(event.id).inserted {
            result[event.subject, default: []].append(event.sequence)
        }
        return result
    }

    /// How many different events came.
    var distinct: Int { Set(self.all.map(\.id)).count }
}

/// Policies over the management API.
struct TestManagement: BrokerManagement {
    let vhost: TestVhost

    private struct Policy: Decodable {
        let name: String
        let definition: [String: BrokerPolicyValue]
    }

    private struct NewPolicy: Encodable {
        let pattern: String
        let definition: [String: BrokerPolicyValue]
        let applyTo = "queues"

        private enum CodingKeys: String, CodingKey {
            case pattern
            case definition
            case applyTo = "apply-to"
        }
    }

    func definition(ofPolicy name: String) async throws -> [String: BrokerPolicyValue]? {
        let list = try await self.vhost.management("GET", "policies/\(self.vhost.name)")
        return try JSONDecoder().decode([Policy].self, from: Data(list.utf8)).first { $0.name == name }?.definition
    }

    func set(_ policy: BrokerPolicy) async throws {
        let body = try JSONEncoder().encode(NewPolicy(pattern: policy.pattern, definition: policy.definition))
        try await self.vhost.management(
            "PUT",
            "policies/\(self.vhost.name)/\(policy.name)",
            body: String(decoding: body, as: UTF8.self)
        )
    }
}

/// Policies of a node that says nothing until it is told to, and then answers nobody who had asked before.
final class SilentManagement: BrokerManagement {
    struct Silence: Error {}

    private struct State {
        var answers = false
        var unanswered = 0
    }

    private let other: TestManagement
    private let state = Locked(State())
    private let told = WakeSignal()

    /// How many questions had no answer.
    var unanswered: Int { self.state.withLock { $0.unanswered } }

    init(behind other: TestManagement) { self.other = other }

    /// From now on there are answers.
    func answer() {
        self.state.withLock { $0.answers = true }
        self.told.wake()
    }

    func definition(ofPolicy name: String) async throws -> [String: BrokerPolicyValue]? {
        try await self.beSilent()
        return try await self.other.definition(ofPolicy: name)
    }

    func set(_ policy: BrokerPolicy) async throws {
        try await self.beSilent()
        try await self.other.set(policy)
    }

    private func beSilent() async throws {
        let isAnswered = self.state.withLock { state in
            if !state.answers { state.unanswered += 1 }
            return state.answers
        }
        guard !isAnswered else { return }
        await self.told.wait(after: 0, upTo: .seconds(60))
        throw Silence()
    }
}

/// Counts how often a publisher connected, by what it logs.
struct Connections: LogHandler {
    private let made = Locked(0)
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info

    /// How many there were.
    var count: Int { self.made.withLock { $0 } }
    var logger: Logger { Logger(label: "messaging-tests") { _ in self } }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { self.metadata[key] }
        set { self.metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        if event.message == "connected to the broker" { self.made.withLock { $0 += 1 } }
    }
}
