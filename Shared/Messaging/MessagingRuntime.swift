public import AMQP
public import Contracts
import Foundation
public import Logging
public import Postgres
public import Primitives
public import ServiceLifecycle

/// Everything that moves events and jobs of one service: relay, consumers, workers, schedules.
public struct MessagingRuntime: Service {
    /// What the service reacts to and works off.
    public struct Plan: Sendable {
        /// What to do with events.
        public var handlers: EventHandlers
        /// How to run jobs.
        public var jobs: [JobDefinition]
        /// What happens by the clock.
        public var schedules: [Schedule]
        /// What is derived from events alone; `handlers` must hear them.
        public var projections: [Projection]

        /// Puts a plan together.
        public init(
            handlers: EventHandlers = .init(),
            jobs: [JobDefinition] = [],
            schedules: [Schedule] = [],
            projections: [Projection] = []
        ) {
            self.handlers = handlers
            self.jobs = jobs
            self.schedules = schedules
            self.projections = projections
        }
    }

    /// The database as request handlers write it.
    public let requests: EventDatabase
    /// The database as consumers and jobs write it.
    public let work: EventDatabase
    /// What operators see and do.
    public let operations: MessagingOperations

    private let service: ServiceName
    private let broker: AMQPConfiguration
    private let topology: AMQPConfiguration
    private let plan: Plan
    private let retention: MessagingRetention
    private let management: (any BrokerManagement)?
    private let recall: EventRecall?
    private let committed: WakeSignal
    private let logger: Logger

    /// Deliveries the broker may have under way to one consumer.
    private static let prefetch: UInt16 = 200
    /// How long runners sleep that the watch has not woken: it finds what is due within half a second.
    private static let patience = Duration.seconds(10)

    /// Puts the parts together; nothing runs before `run()`.
    ///
    /// - Parameters:
    ///   - service: Whose outbox and queues.
    ///   - requests: The pool of the handler role.
    ///   - work: The pool of the worker role.
    ///   - broker: Where RabbitMQ is, as the service's user.
    ///   - topology: The same, as the user that declares; nil when that is the service's.
    ///   - management: Sets policies; nil leaves them alone.
    ///   - clock: The service's clock.
    ///   - ids: Makes UUIDv7s.
    ///   - retention: How long rows are kept.
    ///   - logger: The service's logger.
    ///   - spans: Hears of handlers, jobs and calls of the provider once they have ended.
    ///   - memory: Knows which events were committed before; nil leaves all of them to the inbox.
    ///   - epoch: Of the database of `work`, which the memory is asked in; nil when nobody else asks for it.
    ///   - plan: Handlers, jobs and schedules, made with the two databases.
    public init(
        service: ServiceName,
        requests: PostgresClient,
        work: PostgresClient,
        broker: AMQPConfiguration,
        topology: AMQPConfiguration? = nil,
        management: (any BrokerManagement)?,
        clock: any TimeSource,
        ids: any IdentifierSource,
        retention: MessagingRetention = .init(),
        logger: Logger,
        spans: (any SpanSink)? = nil,
        memory: (any EventMemory)? = nil,
        epoch: DatabaseEpoch? = nil,
        plan: (_ requests: EventDatabase, _ work: EventDatabase) -> Plan
    ) {
        let tools = MessagingTools(clock: clock, ids: ids, spans: spans)
        self.committed = WakeSignal()
        self.requests = EventDatabase(client: requests, tools: tools, committed: self.committed)
        self.work = EventDatabase(client: work, tools: tools, committed: self.committed)
        self.service = service
        self.broker = broker
        self.topology = topology ?? broker
        self.management = management
        self.recall = memory.map { EventRecall(memory: $0, epoch: epoch ?? DatabaseEpoch(work)) }
        self.retention = retention
        self.logger = logger
        var all = plan(self.requests, self.work)
        let projections = Projections(all.projections, database: self.work)
        if !all.projections.isEmpty { all.jobs.append(CleanProjections(projections: projections).definition) }
        self.plan = all
        self.operations = MessagingOperations(
            service: service,
            database: self.work,
            parking: Parking(handlers: self.plan.handlers, database: self.work, logger: logger),
            projections: projections
        )
        let expected = Set(EventCatalogue.types(consumedBy: service))
        precondition(
            self.plan.handlers.types == expected,
            "\(service.rawValue): handlers and catalogue differ in \(self.plan.handlers.types.symmetricDifference(expected))"
        )
    }

    /// Runs until shut down: consumers stop first, jobs under way are finished, the relay ends last.
    public func run() async throws {
        let publisher = AMQPPublisher(
            configuration: self.broker,
            loopName: "\(self.service.rawValue)-pub",
            logger: self.logger
        )
        let guardian = TopologyGuardian(
            configuration: self.topology,
            database: self.work,
            management: self.management,
            logger: self.logger
        )
        let relay = Relay(
            service: self.service,
            database: self.work,
            publisher: publisher,
            guardian: guardian,
            committed: self.committed,
            logger: self.logger
        )
        await withDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            group.addTask { await guardian.run() }
            group.addTask { await relay.run() }
            await self.runWork(guardian)
            group.cancelAll()
        }
    }

    /// Returns when consumers and schedules have stopped and the jobs under way are done.
    private func runWork(_ guardian: TopologyGuardian) async {
        let scheduler = Scheduler(
            schedules: Housekeeping.schedules(retention: self.retention) + self.plan.schedules,
            database: self.work,
            logger: self.logger
        )
        let owner = self.work.tools.ids.next()
        let runners = self.plan.jobs.map { definition in
            JobRunner(
                definition: definition,
                database: self.work,
                due: WakeSignal(),
                logger: self.logger,
                owner: owner,
                idle: Self.patience
            )
        }
        let watch = JobWatch(
            database: self.work,
            committed: self.committed,
            due: Dictionary(uniqueKeysWithValues: runners.map { ($0.definition.kind, $0.due) }),
            logger: self.logger
        )
        await withDiscardingTaskGroup { group in
            for runner in runners { group.addTask { await runner.run() } }
            await self.runUntilShutdown(scheduler, guardian, watch)
        }
    }

    private func runUntilShutdown(_ scheduler: Scheduler, _ guardian: TopologyGuardian, _ watch: JobWatch) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await scheduler.run() }
            group.addTask { await watch.run() }
            for queue in Topology.queues(of: self.service) {
                group.addTask {
                    // Before that there may be no queue.
                    await guardian.untilDeclared()
                    await self.consume(queue)
                }
            }
            try? await gracefulShutdown()
            group.cancelAll()
        }
    }

    private func consume(_ queue: Topology.Queue) async {
        let consumer = EventConsumer(
            consumer: AMQPConsumer(
                configuration: self.broker,
                queue: queue.name,
                prefetch: Self.prefetch,
                logger: self.logger
            ),
            processor: BatchProcessor(handlers: self.plan.handlers, database: self.work, logger: self.logger),
            database: self.work,
            recall: self.recall,
            logger: self.logger
        )
        var backoff = Backoff()
        while !Task.isCancelled {
            do {
                try await consumer.run()
            } catch {
                if Task.isCancelled { return }
                self.logger.warning("consumer interrupted", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: backoff.next())
            }
        }
    }
}
