import AMQP
import Contracts
import EventLoops
import Foundation
import Logging
import Postgres
import Primitives
import ServiceTestSupport
import TestSupport

@testable import Messaging

let quiet = Logger(label: "messaging-tests") { _ in SwiftLogNoOpLogHandler() }

/// Somebody who operates the services, with a reason for everything.
let grace = OperatorOrder(name: "grace", reason: "a test", request: UUID())

/// A database with the tables of this module and two of a service that counts money, and a pool that runs.
struct Kit: Sendable {
    let database: TestDatabase
    let client: PostgresClient
    let committed: WakeSignal
    let events: EventDatabase

    static func with(
        on servers: TestServers? = nil,
        spans: (any SpanSink)? = nil,
        _ body: (Kit) async throws -> Void
    ) async throws {
        let own = SchemaSet(name: "test", migrations: [Self.ownTables])
        try await withTestDatabase(from: .migrated("test", MessagingSchema.sets(around: [own])), on: servers) {
            database in
            let client = try Self.client(database)
            let committed = WakeSignal()
            let tools = MessagingTools(clock: SystemClock(), ids: UUIDv7Source(), spans: spans)
            let events = EventDatabase(client: client, tools: tools, committed: committed)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await client.run() }
                try await body(Kit(database: database, client: client, committed: committed, events: events))
                group.cancelAll()
            }
        }
    }

    static func client(_ database: TestDatabase) throws -> PostgresClient {
        var configuration = try PostgresConfiguration(url: database.workerURL)
        configuration.minimumBackoff = .milliseconds(20)
        configuration.maximumBackoff = .milliseconds(200)
        configuration.leaseTimeout = .seconds(30)
        // Tests that queue for one row behind each other's commits on a slow disk are not about how long that takes.
        configuration.statementTimeout = .seconds(60)
        return PostgresClient(configuration: configuration, logger: quiet)
    }

    private static let ownTables = Migration(
        set: "test",
        number: 1,
        name: "tables",
        sql: """
            CREATE TABLE sums (user_id uuid PRIMARY KEY, total bigint NOT NULL, events bigint NOT NULL);
            CREATE TABLE effects (position bigint GENERATED ALWAYS AS IDENTITY, user_id uuid, amount bigint);
            GRANT SELECT, INSERT, UPDATE ON sums, effects TO ${handler}, ${worker};
            """
    )

    // MARK: Looking

    func number(_ statement: SQL) async throws -> Int {
        Int(try await self.client.query(statement).first?.decode(Int64.self) ?? 0)
    }

    func text(_ statement: SQL) async throws -> String? {
        try await self.client.query(statement).first?.decode(String?.self)
    }

    func texts(_ statement: SQL) async throws -> [String] {
        try await self.client.query(statement).map { try $0.decode(String.self) }
    }

    /// The amounts that took effect for a user, in that order.
    func effects(of user: UUID) async throws -> [Int64] {
        try await self.client.query("SELECT amount FROM effects WHERE user_id = \(user) ORDER BY position").map {
            try $0.decode(Int64.self)
        }
    }

    func execute(_ statement: SQL) async throws {
        try await self.client.withTransaction { sql in _ = try await sql.execute(statement) }
    }

    // MARK: Parts

    func processor(_ handlers: EventHandlers) -> BatchProcessor {
        BatchProcessor(handlers: handlers, database: self.events, logger: quiet)
    }

    /// Operators' view with these handlers.
    func operations(_ handlers: EventHandlers = .init()) -> MessagingOperations {
        MessagingOperations(
            service: .account,
            database: self.events,
            parking: self.parking(handlers),
            projections: Projections([], database: self.events)
        )
    }

    func parking(_ handlers: EventHandlers) -> Parking {
        Parking(handlers: handlers, database: self.events, logger: quiet)
    }

    /// Grace decides to retry what is parked about a user.
    func retry(_ user: UUID, _ handlers: EventHandlers, decision: UUID = UUID()) async throws -> ParkedRetry {
        try await self.parking(handlers).retry(
            RetryDecision(id: decision, subject: user.lowercased, order: grace)
        )
    }

    func runner(_ definition: JobDefinition, owner: UUID = UUID()) -> JobRunner {
        JobRunner(
            definition: definition,
            database: self.events,
            due: self.committed,
            logger: quiet,
            owner: owner
        )
    }

    /// Commits one event per amount, about these users in turn.
    func credit(_ users: [UUID], _ amounts: Range<Int64>) async throws {
        try await self.events.transaction(cause: Cause()) { transaction in
            for amount in amounts {
                let user = users[Int(amount) % users.count]
                try await transaction.publish(credited(user, amount), about: UserID(user))
            }
        }
    }

    /// Who declares the broker's objects.
    func guardian(_ broker: AMQPConfiguration, _ management: (any BrokerManagement)? = nil) -> TopologyGuardian {
        TopologyGuardian(configuration: broker, database: self.events, management: management, logger: quiet)
    }

    /// Runs a guardian until everything is declared and `body` has run.
    func withGuardian(
        _ broker: AMQPConfiguration,
        _ management: (any BrokerManagement)? = nil,
        _ body: () async throws -> Void = {}
    ) async throws {
        let guardian = self.guardian(broker, management)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await guardian.run() }
            try await eventually("everything declared") { await guardian.breaksWhenWhole != nil }
            try await body()
            group.cancelAll()
        }
    }

    /// Runs the relay of a replica while `body` runs.
    func withRelay(
        _ broker: AMQPConfiguration,
        logger: Logger = quiet,
        _ body: () async throws -> Void
    ) async throws {
        let publisher = AMQPPublisher(configuration: broker, logger: logger)
        let guardian = self.guardian(broker)
        let relay = Relay(
            service: .account,
            database: self.events,
            publisher: publisher,
            guardian: guardian,
            committed: self.committed,
            logger: quiet
        )
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await publisher.run() }
            group.addTask { await guardian.run() }
            group.addTask { await relay.run() }
            try await body()
            group.cancelAll()
        }
    }

    /// A consumer of transaction's queue; without a broker it handles what it is given, and is not run.
    func consumer(
        _ handlers: EventHandlers,
        of broker: AMQPConfiguration? = nil,
        recall: EventRecall? = nil,
        on database: EventDatabase? = nil
    ) throws -> EventConsumer {
        let database = database ?? self.events
        let nowhere = try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F")
        return EventConsumer(
            consumer: AMQPConsumer(
                configuration: broker ?? nowhere,
                queue: Broker.queue,
                prefetch: 200,
                logger: quiet
            ),
            processor: BatchProcessor(handlers: handlers, database: database, logger: quiet),
            database: database,
            recall: recall,
            logger: quiet
        )
    }

    /// The database for who must not need it: a transaction waits for a connection that nobody makes.
    func unconnected() throws -> EventDatabase {
        EventDatabase(client: try Self.client(self.database), tools: self.events.tools, committed: self.committed)
    }

    /// Runs a consumer of transaction's queue while `body` runs, and ends it in the middle of whatever it does then.
    func withConsumer(
        _ broker: AMQPConfiguration,
        _ handlers: EventHandlers,
        recall: EventRecall? = nil,
        _ body: () async throws -> Void
    ) async throws {
        let consumer = try self.consumer(handlers, of: broker, recall: recall)
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { _ = try? await consumer.run() }
            try await body()
            group.cancelAll()
        }
    }

    /// Waits until nothing in the outbox waits.
    func awaitAllSent(within limit: Duration = .seconds(30)) async throws {
        try await eventually("an empty outbox", within: limit) {
            try await self.number("SELECT count(*) FROM outbox WHERE sent_at IS NULL") == 0
        }
    }
}
