public import Contracts

/// A user of the broker.
public enum BrokerUser: Sendable, Hashable {
    /// A service: it publishes what the catalogue gives it, and reads its own queues.
    case service(ServiceName)
    /// Makes exchanges, queues and bindings, in the name of all services; it publishes nothing and reads nothing.
    case topology
    /// Sets policies and looks at queues, over the management API.
    case policies
    /// Looks at queues, over the management API, and does nothing else.
    case observer

    /// All of them.
    public static let all: [BrokerUser] =
        ServiceName.allCases.map(BrokerUser.service) + [.topology, .policies, .observer]

    /// What it is called, behind whatever tells suites on one broker apart.
    public var name: String {
        switch self {
        case .service(let service): service.rawValue
        case .topology: "topology"
        case .policies: "policies"
        case .observer: "observer"
        }
    }

    /// What the management API lets it do.
    public var tags: String {
        switch self {
        case .service, .topology: ""
        case .policies: "policymaker"
        // Sees the virtual hosts that it may log in to, and no others.
        case .observer: "management"
        }
    }

    /// What it may do.
    public var rights: BrokerRights {
        switch self {
        case .service(let service): BrokerRights(of: service)
        case .topology: .topology
        case .policies, .observer: BrokerRights(configure: .none, write: .none, read: .none)
        }
    }
}

/// What a user of the broker may do: regular expressions over the names of queues and exchanges.
///
/// Source: RabbitMQ, "Access Control". Only who may not declare can be held to its own keys: a queue can send what is in it
/// on to the exchange under any key, and an exchange of one's own leads into any queue that one may bind.
public struct BrokerRights: Sendable, Hashable {
    /// What it may declare and delete.
    public let configure: String
    /// What it may publish to, and which queues it may bind.
    public let write: String
    /// What it may consume, and which exchanges it may bind to.
    public let read: String
    /// The routing keys that it may publish to the exchange of events with.
    public let keys: String

    init(configure: Pattern, write: Pattern, read: Pattern, keys: Pattern = .none) {
        self.configure = configure.text
        self.write = write.text
        self.read = read.text
        self.keys = keys.text
    }

    /// A service publishes the kinds that are its own.
    init(of service: ServiceName) {
        let kinds = EventCatalogue.types(publishedBy: service).map(\.rawValue)
        var queues = Topology.queues(of: service).map(\.name)
        if service == .console { queues.append(Topology.eventLog) }
        self.init(
            configure: .none,
            write: kinds.isEmpty ? .none : .names([Topology.exchange]),
            read: queues.isEmpty ? .none : .names(queues),
            keys: kinds.isEmpty ? .none : .names(kinds, after: "[0-9][0-9]\\.")
        )
    }

    /// What all services declare together.
    static var topology: BrokerRights {
        let queues = Topology.allQueues.map(\.name) + [Topology.deadLetterQueue, Topology.eventLog]
        let exchanges = [Topology.exchange, Topology.deadLetterExchange]
        return BrokerRights(configure: .names(exchanges + queues), write: .names(queues), read: .names(exchanges))
    }

    /// A regular expression.
    struct Pattern {
        let text: String

        /// Matches no name: nothing is called so.
        static let none = Pattern(text: "^$")

        /// Matches these names, each behind what `start` matches.
        static func names(_ names: [String], after start: String = "") -> Pattern {
            let all = names.sorted().map {
                $0.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
            }
            return Pattern(text: "^\(start)(\(all.joined(separator: "|")))$")
        }
    }
}
