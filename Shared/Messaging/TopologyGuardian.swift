import AMQP
import Contracts
import EventLoops
import Foundation
import Logging
import Postgres
import Primitives

/// Declares the broker's objects, and watches that they stay.
///
/// The event log takes a copy of everything, so the broker finds a home for every event even when a consumer's queue is
/// gone: a publisher would not notice. Therefore every relay looks for all queues once a second and stops when one is
/// missing; a missing queue is made anew only after every relay has had time to look; and each relay then sends again
/// what it sent since its last good look, and what may have been waiting in the queue. Consumers drop what they already
/// know.
actor TopologyGuardian {
    private let configuration: AMQPConfiguration
    private let database: EventDatabase
    private let management: (any BrokerManagement)?
    private let logger: Logger

    private var lastWhole: ContinuousClock.Instant?
    private var needsResend = false
    /// Whether a queue was missing since the last resend.
    private var hasMissed = false
    private var isWhole = false
    private var isDeclared = false
    private let declared = WakeSignal()

    /// How many marks are under way, and their ends.
    private var marks = 0
    private let marked = WakeSignal()

    /// Counts how often the objects turned out, or may have turned out, to be incomplete.
    private(set) var breaks = 0

    /// `breaks`, when everything was found at the last look; nil otherwise.
    var breaksWhenWhole: Int? { self.isWhole ? self.breaks : nil }

    private static let look = Duration.seconds(1)
    /// Longer than two looks of any relay.
    private static let quarantine = Duration.seconds(3)
    /// What was sent so long before a queue went may have been in it, unhandled.
    ///
    /// A consumer that was further behind needs an operator: `transfactl outbox resend`.
    private static let backlog = Duration.seconds(15 * 60)

    init(
        configuration: AMQPConfiguration,
        database: EventDatabase,
        management: (any BrokerManagement)?,
        logger: Logger
    ) {
        self.configuration = configuration
        self.database = database
        self.management = management
        self.logger = logger
    }

    /// Something was not confirmed: look before the next event is sent.
    func suspect() { self.isWhole = false }

    /// Whether what was confirmed since `topology` may be marked sent; who may says `endMark` afterwards.
    ///
    /// A mark that is late must not hide an event from what is sent again: that waits for its end.
    func beginMark(since topology: Int) -> Bool {
        guard self.breaks == topology else { return false }
        self.marks += 1
        return true
    }

    func endMark() {
        self.marks -= 1
        self.marked.wake()
    }

    /// Returns when no mark is under way: those of before a break end within the time of a statement.
    private func awaitMarks() async {
        while self.marks > 0, !Task.isCancelled {
            await self.marked.wait(after: self.marked.generation, upTo: Self.look)
        }
    }

    /// Returns when everything has been declared once, or on cancellation.
    nonisolated func untilDeclared() async {
        while !Task.isCancelled {
            let seen = self.declared.generation
            if await self.isDeclared { return }
            await self.declared.wait(after: seen, upTo: Self.look)
        }
    }

    /// Runs until cancelled.
    func run() async {
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                try await AMQPAdmin.withConnection(self.configuration, logger: self.logger) { admin in
                    try await self.begin(admin)
                    backoff.reset()
                    try await withThrowingDiscardingTaskGroup { group in
                        group.addTask { await self.keepPolicies() }
                        try await self.keepLooking(admin)
                        group.cancelAll()
                    }
                }
            } catch {
                if Task.isCancelled { return }
                // What happens until the next look is not seen.
                self.noteBreak()
                self.logger.warning("broker not reached", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    /// Declares everything; a queue that alone is missing was deleted or is new, and its peers need time to notice.
    private func begin(_ admin: AMQPAdmin) async throws {
        // Asked first: on a new broker a peer may make everything meanwhile, the event log last.
        let isKnown = try await self.exists(Topology.eventLog, admin)
        if try await self.findMissing(admin) != nil {
            if isKnown { try await self.awaitPeers("a queue is missing, it is made when all relays have noticed") }
            // Before the queues: they are born with their limits.
            _ = await self.setPolicies()
        }
        try await self.declareAll(admin)
    }

    private func noteBreak() {
        self.isWhole = false
        self.needsResend = true
        self.breaks += 1
    }

    /// Gives every relay time to notice that a queue is not there.
    private func awaitPeers(_ message: Logger.Message) async throws {
        self.noteBreak()
        self.hasMissed = true
        self.logger.error(message)
        try await Task.sleep(for: Self.quarantine)
    }

    private func keepLooking(_ admin: AMQPAdmin) async throws {
        while !Task.isCancelled {
            try await self.lookOnce(admin)
            try await Task.sleep(for: Self.look)
        }
    }

    private func lookOnce(_ admin: AMQPAdmin) async throws {
        let started = ContinuousClock.now
        if try await self.findMissing(admin) != nil {
            try await self.awaitPeers("a queue is gone, relaying stops until it is back")
            _ = await self.setPolicies()
            try await self.declareAll(admin)
            return
        }
        if self.needsResend { try await self.resend() }
        self.lastWhole = started
        self.isWhole = true
    }

    private func findMissing(_ admin: AMQPAdmin) async throws -> String? {
        for name in Topology.allQueues.map(\.name) + [Topology.eventLog] {
            guard try await self.exists(name, admin) else { return name }
        }
        return nil
    }

    private func exists(_ queue: String, _ admin: AMQPAdmin) async throws -> Bool {
        do {
            _ = try await admin.passiveDeclare(queue)
            return true
        } catch {
            // Not `catch where`: with a typed error the compiler (6.3.1) crashes on it.
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// Sends again what may have met a missing queue, or was still in one when it went.
    private func resend() async throws {
        await self.awaitMarks()
        var span = self.hasMissed ? Self.backlog : .zero
        // With a margin for the look itself.
        if let lastWhole = self.lastWhole { span = max(span, ContinuousClock.now - lastWhole + Self.look * 2) }
        if span > .zero {
            let count = try await self.database.resend(sentWithin: span)
            self.logger.notice("events are sent again", metadata: ["count": "\(count)"])
        }
        self.needsResend = false
        self.hasMissed = false
    }

    // MARK: Declaring

    private func declareAll(_ admin: AMQPAdmin) async throws {
        try await admin.declareExchange(Topology.exchange, kind: .topic)
        try await admin.declareExchange(Topology.deadLetterExchange, kind: .fanout)
        try await admin.declareQueue(Topology.deadLetterQueue, kind: .quorum)
        try await admin.bind(queue: Topology.deadLetterQueue, exchange: Topology.deadLetterExchange, routingKey: "#")
        for queue in Topology.allQueues {
            try await admin.declareQueue(
                queue.name,
                kind: .quorum,
                arguments: ["x-single-active-consumer": .bool(true)]
            )
            for binding in queue.bindings {
                try await admin.bind(queue: queue.name, exchange: Topology.exchange, routingKey: binding)
            }
            for binding in queue.formerBindings {
                try await admin.unbind(queue: queue.name, exchange: Topology.exchange, routingKey: binding)
            }
        }
        // Last: who finds it may expect all queues.
        try await admin.declareQueue(Topology.eventLog, kind: .stream)
        try await admin.bind(queue: Topology.eventLog, exchange: Topology.exchange, routingKey: "#")
        self.isDeclared = true
        self.declared.wake()
    }

    // MARK: Policies

    /// Sets the policies, and tries again until all are set.
    ///
    /// Beside the looks: the node that answers for them may be the one that is gone, and events need not wait for it.
    private func keepPolicies() async {
        var backoff = Backoff(maximum: .seconds(60))
        while !Task.isCancelled {
            if await self.setPolicies() { return }
            try? await Task.sleep(for: backoff.next())
        }
    }

    /// Whether all are set.
    private func setPolicies() async -> Bool {
        guard let management = self.management else { return true }
        var areSet = true
        for policy in BrokerPolicy.all {
            do {
                let current = try await management.definition(ofPolicy: policy.name)
                if current == policy.definition { continue }
                if current != nil {
                    self.logger.warning("a policy drifted and is set again", metadata: ["policy": "\(policy.name)"])
                }
                try await management.set(policy)
            } catch {
                areSet = false
                if Task.isCancelled { break }
                self.logger.warning("policy not set", metadata: ["policy": "\(policy.name)", "error": "\(error)"])
            }
        }
        return areSet
    }
}
