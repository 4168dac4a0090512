import AMQP
import Contracts
import Foundation
import Logging
import Postgres
import Primitives
import TestSupport

@testable import Messaging
@testable import SubscriptionService

/// Subscription on a database of its own, without HTTP and broker.
struct SubscriptionWorld: Sendable {
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source

    let subscriptions = SubscriptionStore()
    let usage = UsageStore()
    let ada = UserID(clerkSubject: "user_ada")

    /// The month in which the tests run.
    var month: UsageMonth { UsageMonth(at: self.clock.now) }

    /// Handles an event as the consumer does, from its bytes.
    func hear<Payload: EventData>(_ data: Payload, sequence: Int64 = 1) async throws {
        try await self.hear(
            Payload.type,
            String(decoding: try JSONEncoder().encode(data), as: UTF8.self),
            sequence: sequence
        )
    }

    /// Handles an event whose data is this text.
    func hear(_ type: EventType, _ json: String, sequence: Int64) async throws {
        let attributes = EventAttributes(
            id: self.ids.next(),
            source: "test",
            type: type,
            majorVersion: 1,
            subject: self.ada.description,
            time: Timestamp.text(self.clock.now),
            sequence: sequence
        )
        let body = try EventEnvelope.body(attributes, dataJSON: json)
        let handlers = SubscriptionHandlers.make(subscriptions: self.subscriptions, usage: self.usage)
        guard let entry = handlers.entries[type] else { throw TestFailure("nobody hears \(type.rawValue)") }
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry.handle(attributes, body, transaction)
        }
    }

    /// The kinds of events that subscription has published, in order.
    func said() async throws -> [String] {
        try await self.work.client.query("SELECT type FROM outbox ORDER BY position").map { try $0.decode(String.self) }
    }

    /// The last event of a kind.
    func last<Payload: EventData>(_ type: Payload.Type) async throws -> Payload? {
        try await self.work.client.query(
            "SELECT data FROM outbox WHERE type = \(Payload.type.rawValue) ORDER BY position DESC LIMIT 1"
        ).first.map { try JSONDecoder().decode(type, from: Data(try $0.decode(String.self).utf8)) }
    }

    /// What Ada sees.
    func status() async throws -> SubscriptionStatus {
        let now = self.clock.now
        let found = try await self.subscriptions.find(self.ada, in: self.month, as: self.ada, on: self.requests)
        return found.status(at: now)
    }

    /// Gives Ada a plan for a time.
    func activate(_ plan: String = "plus", until: Date) async throws {
        let order = try PlanOrder(plan: plan, until: Timestamp.text(until), now: self.clock.now)
        try await self.work.transaction(cause: Cause()) { transaction in
            try await ActivatePlan(subscriptions: self.subscriptions)(order, user: self.ada, in: transaction)
        }
    }

    /// Ends plans whose time is over.
    func lapse() async throws {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await LapseExpired(subscriptions: self.subscriptions)(in: transaction)
        }
    }
}

/// Runs `body` with subscription on a fresh database.
func withSubscription(_ body: (SubscriptionWorld) async throws -> Void) async throws {
    try await withTestDatabase("subscription") { database in
        let migrator = Migrator(migrations: try SubscriptionMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "subscription-tests") { _ in SwiftLogNoOpLogHandler() }
        let requests = PostgresClient(configuration: try small(database.handlerURL), logger: logger)
        let work = PostgresClient(configuration: try small(database.workerURL), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await requests.run() }
            group.addTask { await work.run() }
            try await body(try world(requests: requests, work: work, logger: logger))
            group.cancelAll()
        }
    }
}

/// Few connections: many tests share one server.
private func small(_ url: String) throws -> PostgresConfiguration {
    var configuration = try PostgresConfiguration(url: url)
    configuration.leasedConnections = 2
    configuration.readConnections = 1
    return configuration
}

private func world(requests: PostgresClient, work: PostgresClient, logger: Logger) throws -> SubscriptionWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases. It also checks the handlers against the catalogue.
    let messaging = MessagingRuntime(
        service: .subscription,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, _ in
        MessagingRuntime.Plan(handlers: SubscriptionHandlers.make(subscriptions: .init(), usage: .init()))
    }
    return SubscriptionWorld(requests: messaging.requests, work: messaging.work, clock: clock, ids: ids)
}
