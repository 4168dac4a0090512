import AMQP
import Contracts
import Foundation
import Logging
import Postgres
import Primitives
import TestSupport

@testable import AnalyticsService
@testable import Messaging

/// Analytics on a database of its own, without HTTP and broker.
struct AnalyticsWorld: Sendable {
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source

    let ada = UserID(clerkSubject: "user_ada")
    let bayo = UserID(clerkSubject: "user_bayo")

    /// Handles an event as the consumer does, from its bytes and under a new event id.
    func hear<Payload: EventData>(_ data: Payload, about subject: UUID) async throws {
        let attributes = EventAttributes(
            id: self.ids.next(),
            source: "test",
            type: Payload.type,
            majorVersion: Payload.majorVersion,
            subject: subject.lowercased,
            time: Timestamp.text(self.clock.now),
            sequence: 1
        )
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        let body = try EventEnvelope.body(attributes, dataJSON: json)
        let handlers = AnalyticsHandlers.make(movements: MovementStore())
        guard let entry = handlers.entries[Payload.type] else { throw TestFailure("nobody hears \(Payload.type)") }
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry.handle(attributes, body, transaction)
        }
    }

    /// What a user sees of some days.
    func totals(_ user: UserID, from: String, to: String) async throws -> Totals {
        let period = try Period(from: from, to: to, now: self.clock.now)
        return try await DailyTotalStore().sum(period, of: user, on: self.requests)
    }

    /// How many rows of totals the role of requests sees for a user.
    func rows(visibleTo user: UserID?) async throws -> Int64? {
        let sql: SQL = "SELECT count(*) FROM daily_totals"
        return try await self.requests.client.query(sql, as: user?.uuid).first?.decode(Int64.self)
    }

    /// What a user sees of November 2026.
    func november(_ user: UserID) async throws -> Totals {
        try await self.totals(user, from: "2026-11-01", to: "2026-11-30")
    }
}

extension AnalyticsWorld {
    /// Ada's transfer to Bayo.
    func completed(
        _ id: UUID,
        amount: Int64 = 500_000,
        type: TransactionType = .p2p,
        route: TransferRoute = .external,
        at timestamp: String = "2026-11-21T09:00:00.000Z"
    ) -> TransactionCompleted {
        TransactionCompleted(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: amount,
            type: Open(type),
            route: Open(route),
            fee: 2_500,
            duty: 5_000,
            timestamp: timestamp
        )
    }

    /// The return of Ada's transfer to Bayo.
    func reversed(_ id: UUID, at timestamp: String = "2026-11-23T09:00:00.000Z") -> TransactionReversed {
        TransactionReversed(
            transactionID: id,
            senderID: self.ada.uuid,
            recipientID: self.bayo.uuid,
            amount: 500_000,
            type: Open(.p2p),
            route: Open(.external),
            fee: 2_500,
            duty: 5_000,
            timestamp: timestamp
        )
    }

    /// Money for Bayo from outside.
    func credited(_ id: UUID, amount: Int64, reference: String? = nil) -> WalletCredited {
        WalletCredited(
            userID: self.bayo.uuid,
            paymentID: id,
            providerPaymentID: "1-\(id.lowercased)",
            anchorAccountID: "1-acc",
            amount: amount,
            reference: reference,
            timestamp: "2026-11-21T09:00:00.000Z"
        )
    }
}

/// Runs `body` with analytics on a fresh database.
func withAnalytics(_ body: (AnalyticsWorld) async throws -> Void) async throws {
    try await withTestDatabase("analytics") { database in
        let migrator = Migrator(migrations: try AnalyticsMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "analytics-tests") { _ in SwiftLogNoOpLogHandler() }
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
    configuration.leasedConnections = 4
    configuration.readConnections = 1
    return configuration
}

private func world(requests: PostgresClient, work: PostgresClient, logger: Logger) throws -> AnalyticsWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases. It also checks the handlers against the catalogue.
    let messaging = MessagingRuntime(
        service: .analytics,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, _ in MessagingRuntime.Plan(handlers: AnalyticsHandlers.make(movements: MovementStore())) }
    return AnalyticsWorld(requests: messaging.requests, work: messaging.work, clock: clock, ids: ids)
}
