import AMQP
public import Contracts
public import Foundation
import Logging
public import Messaging
public import Postgres
public import Primitives
public import TestSupport

/// A service's own database, migrated, and the two ways its code writes it; without HTTP and broker.
public struct ServiceDatabase: Sendable {
    /// The database, for what the roles may not see.
    public let database: TestDatabase
    /// As request handlers write it, under row level security.
    public let requests: EventDatabase
    /// As consumers and jobs write it.
    public let work: EventDatabase
    /// The service's clock.
    public let clock: AdjustableClock
    /// Makes the service's ids.
    public let ids: UUIDv7Source
    /// What operators see and do.
    public let ownOperations: MessagingOperations
    private let runtime: @Sendable (EventHandlers) throws -> MessagingRuntime

    /// The runtime never runs: it is only the way to the two databases.
    ///
    /// It also checks the handlers against the catalogue.
    init(
        _ service: ServiceName,
        _ database: TestDatabase,
        requests: PostgresClient,
        work: PostgresClient,
        logger: Logger,
        handlers: EventHandlers,
        projections: [Projection]
    ) throws {
        let clock = AdjustableClock()
        let ids = UUIDv7Source(clock: clock)
        let runtime: @Sendable (EventHandlers) throws -> MessagingRuntime = { handlers in
            MessagingRuntime(
                service: service,
                requests: requests,
                work: work,
                broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
                management: nil,
                clock: clock,
                ids: ids,
                logger: logger
            ) { _, _ in MessagingRuntime.Plan(handlers: handlers, projections: projections) }
        }
        let messaging = try runtime(handlers)
        self.runtime = runtime
        self.database = database
        self.requests = messaging.requests
        self.work = messaging.work
        self.clock = clock
        self.ids = ids
        self.ownOperations = messaging.operations
    }

    /// What operators see and do in a service with these handlers, such as handling events again.
    public func operations(_ handlers: EventHandlers) throws -> MessagingOperations {
        try self.runtime(handlers).operations
    }

    /// Handles a batch of events as the consumer does, with inbox rows.
    public func consume(_ bodies: [Data]) async throws { try await self.ownOperations.consume(bodies) }
}

/// Runs `body` with a service on a fresh database.
///
/// - Parameters:
///   - service: Whose outbox it is.
///   - schema: Messaging's, the service's own and the audit's.
///   - handlers: What the service does with events; they must be those of the catalogue.
///   - projections: What it derives from events alone.
///   - connections: For transactions of each role; few, because many tests share one server.
///   - body: The test.
/// - Throws: What `body` throws, and why the database could not be made.
public func withServiceDatabase(
    _ service: ServiceName,
    schema: [SchemaSet],
    handlers: EventHandlers,
    projections: [Projection] = [],
    connections: Int = 4,
    _ body: (ServiceDatabase) async throws -> Void
) async throws {
    try await withTestDatabase(from: .migrated(service.rawValue, schema)) { database in
        let logger = Logger(label: "\(service.rawValue)-tests") { _ in SwiftLogNoOpLogHandler() }
        let requests = try client(database.handlerURL, connections, logger)
        let work = try client(database.workerURL, connections, logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await requests.run() }
            group.addTask { await work.run() }
            let made = try ServiceDatabase(
                service,
                database,
                requests: requests,
                work: work,
                logger: logger,
                handlers: handlers,
                projections: projections
            )
            try await body(made)
            group.cancelAll()
        }
    }
}

private func client(_ url: String, _ connections: Int, _ logger: Logger) throws -> PostgresClient {
    var configuration = try PostgresConfiguration(url: url)
    configuration.leasedConnections = connections
    configuration.readConnections = 1
    // A test may let many wait for one lock, on a machine that stands still for a while.
    configuration.leaseTimeout = .seconds(60)
    return PostgresClient(configuration: configuration, logger: logger)
}
