/// What a broker has of our objects.
package struct BrokerObjects: Sendable, Equatable {
    /// A queue as the broker describes it.
    package struct Queue: Sendable, Equatable {
        /// `quorum`, `stream` or `classic`.
        package var kind: String
        /// Whether one consumer at a time is served.
        package var isSingle: Bool

        package init(kind: String, isSingle: Bool) {
            self.kind = kind
            self.isSingle = isSingle
        }
    }

    /// A key that leads from an exchange to a queue.
    package struct Binding: Sendable, Hashable {
        package let exchange: String
        package let queue: String
        package let key: String

        package init(exchange: String, queue: String, key: String) {
            self.exchange = exchange
            self.queue = queue
            self.key = key
        }
    }

    /// Name and kind.
    package var exchanges: [String: String] = [:]
    /// By name.
    package var queues: [String: Queue] = [:]
    package var bindings: Set<Binding> = []
    /// By name.
    package var policies: [String: [String: BrokerPolicyValue]] = [:]

    package init() {}

    /// What there should be.
    package static var wanted: BrokerObjects {
        var objects = BrokerObjects()
        objects.exchanges = [Topology.exchange: "topic", Topology.deadLetterExchange: "fanout"]
        objects.queues[Topology.deadLetterQueue] = Queue(kind: "quorum", isSingle: false)
        objects.queues[Topology.eventLog] = Queue(kind: "stream", isSingle: false)
        objects.bindings = [
            Binding(exchange: Topology.deadLetterExchange, queue: Topology.deadLetterQueue, key: "#"),
            Binding(exchange: Topology.exchange, queue: Topology.eventLog, key: "#"),
        ]
        for queue in Topology.allQueues {
            objects.queues[queue.name] = Queue(kind: "quorum", isSingle: true)
            for key in queue.bindings {
                objects.bindings.insert(Binding(exchange: Topology.exchange, queue: queue.name, key: key))
            }
        }
        for policy in BrokerPolicy.all { objects.policies[policy.name] = policy.definition }
        return objects
    }
}

/// How to get a broker's objects from what they are to what they should be.
package struct TopologyPlan: Sendable, Equatable {
    /// One thing to do.
    package enum Step: Sendable, Hashable {
        case declareExchange(String, kind: String)
        case setPolicy(BrokerPolicy)
        case declareQueue(String, kind: String, isSingle: Bool)
        case bind(BrokerObjects.Binding)
        case unbind(BrokerObjects.Binding)

        /// The step for people.
        package var text: String {
            switch self {
            case .declareExchange(let name, let kind): "declare the \(kind) exchange \(name)"
            case .setPolicy(let policy): "set the policy \(policy.name)"
            case .declareQueue(let name, let kind, _): "declare the \(kind) queue \(name)"
            case .bind(let binding): "bind \(binding.queue) to \(binding.exchange) by \(binding.key)"
            case .unbind(let binding): "unbind \(binding.queue) from \(binding.exchange) by \(binding.key)"
            }
        }
    }

    /// In this order: the event log last, because who finds it may expect all queues.
    package let steps: [Step]
    /// What is there in another way and cannot be changed in place.
    package let conflicts: [String]
    /// Bindings of our queues that nobody here knows; they are left alone, for they may be a newer version's.
    package let strangers: [String]
    /// Whether a queue is gone that publishers believe to be there.
    ///
    /// Every relay must have had time to notice before it is made anew: see `TopologyGuardian`.
    package let lacksKnownQueue: Bool

    /// Nothing is to be done and nothing is in the way.
    package var isWhole: Bool { self.steps.isEmpty && self.conflicts.isEmpty }

    /// Compares what there is with what there should be.
    package init(of objects: BrokerObjects) {
        let wanted = BrokerObjects.wanted
        let order = [Topology.deadLetterQueue] + Topology.allQueues.map(\.name) + [Topology.eventLog]
        var steps: [Step] = wanted.exchanges.sorted { $0.key < $1.key }.compactMap { name, kind in
            objects.exchanges[name] == nil ? .declareExchange(name, kind: kind) : nil
        }
        steps += BrokerPolicy.all.filter { objects.policies[$0.name] != $0.definition }.map(Step.setPolicy)
        for name in order {
            steps += Self.steps(for: name, wanted, objects)
        }
        self.steps = steps
        self.conflicts = Self.conflicts(wanted, objects)
        self.strangers = Self.strangers(wanted, objects)
        self.lacksKnownQueue =
            objects.queues[Topology.eventLog] != nil
            && Topology.allQueues.contains { objects.queues[$0.name] == nil }
    }

    private static func steps(for name: String, _ wanted: BrokerObjects, _ objects: BrokerObjects) -> [Step] {
        var steps: [Step] = []
        if let queue = wanted.queues[name], objects.queues[name] == nil {
            steps.append(.declareQueue(name, kind: queue.kind, isSingle: queue.isSingle))
        }
        let missing = wanted.bindings.subtracting(objects.bindings).filter { $0.queue == name }
        steps += missing.sorted { $0.key < $1.key }.map(Step.bind)
        let former = objects.bindings.intersection(self.former).filter { $0.queue == name }
        return steps + former.sorted { $0.key < $1.key }.map(Step.unbind)
    }

    /// What was given up.
    private static var former: Set<BrokerObjects.Binding> {
        Set(
            Topology.allQueues.flatMap { queue in
                queue.formerBindings.map {
                    BrokerObjects.Binding(exchange: Topology.exchange, queue: queue.name, key: $0)
                }
            }
        )
    }

    private static func conflicts(_ wanted: BrokerObjects, _ objects: BrokerObjects) -> [String] {
        let exchanges = wanted.exchanges.sorted { $0.key < $1.key }.compactMap { name, kind -> String? in
            guard let found = objects.exchanges[name], found != kind else { return nil }
            return "the exchange \(name) is \(found) and should be \(kind)"
        }
        let queues = wanted.queues.sorted { $0.key < $1.key }.compactMap { name, queue -> String? in
            guard let found = objects.queues[name], found != queue else { return nil }
            return "the queue \(name) is \(Self.text(found)) and should be \(Self.text(queue))"
        }
        return exchanges + queues
    }

    private static func text(_ queue: BrokerObjects.Queue) -> String {
        queue.kind + (queue.isSingle ? " with a single active consumer" : "")
    }

    private static func strangers(_ wanted: BrokerObjects, _ objects: BrokerObjects) -> [String] {
        objects.bindings.subtracting(wanted.bindings).subtracting(self.former)
            .filter { wanted.queues[$0.queue] != nil && !$0.exchange.isEmpty }
            .map { "\($0.queue) is bound to \($0.exchange) by \($0.key)" }
            .sorted()
    }
}
