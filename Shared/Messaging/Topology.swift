public import Contracts
import Cryptography

/// Names and routing of the broker's objects, derived from the table in `Contracts`.
public enum Topology {
    /// The topic exchange that every event goes to.
    public static let exchange = "transfa.events"
    /// Where rejected and undeliverable messages go.
    public static let deadLetterExchange = "transfa.dead"
    /// Holds what went there.
    public static let deadLetterQueue = "transfa.dead-letters"
    /// The shared copy of everything, for replay.
    public static let eventLog = "transfa.event-log"
    /// Partitions of the routing key; fixed for ever.
    public static let partitions = 16

    /// A queue and what is bound to it.
    public struct Queue: Sendable, Hashable {
        /// `<service>.p<k>`.
        public let name: String
        /// Patterns of routing keys.
        public let bindings: [String]
        /// Patterns that an earlier version had bound.
        ///
        /// Only what is written down as given up is unbound, never all that is not wanted: a replica of an older
        /// version would take from a newer one what that has just begun to hear.
        public let formerBindings: [String]
    }

    /// The partition of a subject: the first byte of its SHA-256, modulo 16.
    public static func partition(of subject: String) -> Int {
        Int(SHA256.hash(data: subject.utf8)[0]) % self.partitions
    }

    /// `<pp>.<type>`, such as `07.user.created`.
    public static func routingKey(type: EventType, subject: String) -> String {
        let partition = self.partition(of: subject)
        return (partition < 10 ? "0" : "") + "\(partition)." + type.rawValue
    }

    /// Whether a message that was published with a key may hold an event of a kind.
    ///
    /// The broker lets a service write the keys of its own kinds alone, so what a key does not say must not be believed.
    public static func isKey(_ routingKey: String, of type: EventType) -> Bool {
        guard let dot = routingKey.firstIndex(of: ".") else { return false }
        return routingKey[dot...].dropFirst() == type.rawValue
    }

    /// The queues of one service.
    ///
    /// Their `count` divides 16. Queue k takes the partitions p with p mod count = k; a single queue is bound once per
    /// kind for all partitions.
    public static func queues(of service: ServiceName, count: Int = 1) -> [Queue] {
        precondition(count > 0 && self.partitions % count == 0, "the number of queues must divide \(self.partitions)")
        let types = EventCatalogue.types(consumedBy: service)
        let former = EventCatalogue.types(formerlyConsumedBy: service)
        guard !types.isEmpty else { return [] }
        return (0..<count).map { k in
            Queue(
                name: "\(service.rawValue).p\(k)",
                bindings: self.patterns(of: types, queue: k, of: count),
                formerBindings: self.patterns(of: former, queue: k, of: count)
            )
        }
    }

    private static func patterns(of types: [EventType], queue: Int, of count: Int) -> [String] {
        if count == 1 { return types.map { "*.\($0.rawValue)" } }
        return stride(from: queue, to: self.partitions, by: count).flatMap { p in
            types.map { (p < 10 ? "0" : "") + "\(p).\($0.rawValue)" }
        }
    }

    /// All queues of all services.
    public static var allQueues: [Queue] { ServiceName.allCases.flatMap { self.queues(of: $0) } }
}

/// A setting of the broker that may change later: a policy, never a queue argument.
public struct BrokerPolicy: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Regular expression over queue names.
    public let pattern: String
    /// Keys and values, as the management API takes them.
    public let definition: [String: BrokerPolicyValue]

    /// The policies of the suite.
    ///
    /// The delivery limit is only a last line: an event that ends its handler is parked long before. Without any limit
    /// the broker would put returned messages at the back of the queue and break the order.
    public static let all: [BrokerPolicy] = [
        BrokerPolicy(
            name: "transfa-queues",
            pattern: #"^[a-z]+\.p[0-9]+$"#,
            definition: [
                "delivery-limit": .number(1000),
                "dead-letter-exchange": .text(Topology.deadLetterExchange),
                "dead-letter-strategy": .text("at-least-once"),
                "overflow": .text("reject-publish"),
                "max-length": .number(10_000_000),
            ]
        ),
        BrokerPolicy(
            name: "transfa-event-log",
            pattern: #"^transfa\.event-log$"#,
            definition: ["max-age": .text("7D"), "max-length-bytes": .number(20_000_000_000)]
        ),
    ]
}

/// A value in a policy.
public enum BrokerPolicyValue: Sendable, Hashable, Codable {
    /// A word.
    case text(String)
    /// A number.
    case number(Int)

    /// Reads a word or a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(Int.self) {
            self = .number(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes the word or number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}

/// The part of the broker's management API that this module needs.
public protocol BrokerManagement: Sendable {
    /// The definition of a policy that is set now; nil when there is none.
    func definition(ofPolicy name: String) async throws -> [String: BrokerPolicyValue]?
    /// Sets a policy.
    func set(_ policy: BrokerPolicy) async throws
}
