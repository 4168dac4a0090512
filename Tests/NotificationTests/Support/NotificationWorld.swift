import AMQP
import AnchorClient
import Contracts
import Foundation
import Logging
import Postgres
import Primitives
import TestSupport

@testable import Messaging
@testable import NotificationService

/// Notification on a database of its own, with the provider in memory and without HTTP and broker.
struct NotificationWorld {
    let database: TestDatabase
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source
    let provider = FakeProvider()
    let customers = CustomerStore()
    let webhooks = WebhookStore()
    let inbox = InboxStore()

    let ada = UserID(clerkSubject: "user_ada")

    private var publishVerdict: PublishVerdict { PublishVerdict(customers: self.customers) }

    var handlers: EventHandlers {
        NotificationHandlers.make(
            learnCustomer: LearnCustomer(
                customers: self.customers,
                webhooks: self.webhooks,
                publishVerdict: self.publishVerdict
            ),
            inbox: self.inbox
        )
    }

    var takeWebhook: TakeWebhook {
        TakeWebhook(
            database: self.work,
            webhooks: self.webhooks,
            customers: self.customers,
            publishVerdict: self.publishVerdict
        )
    }

    var checkCustomer: CheckCustomer {
        CheckCustomer(
            database: self.work,
            customers: self.customers,
            provider: self.provider,
            publishVerdict: self.publishVerdict
        )
    }

    // MARK: Events

    func adaIsCustomer() async throws {
        let created = CustomerCreated(
            userID: self.ada.uuid,
            anchorCustomerID: "1-anc_ind_cst",
            accountType: Open(.personal)
        )
        try await self.hear(created)
    }

    /// A webhook arrives whose signature was good; true when it was new.
    @discardableResult
    func webhook(_ id: String, _ type: String, _ links: [String: String] = [:]) async throws -> Bool {
        let relationships = links.map { #""\#($0)":{"data":{"id":"\#($1)","type":"x"}}"# }.joined(separator: ",")
        let body = #"{"data":{"id":"\#(id)","type":"\#(type)","attributes":{},"relationships":{\#(relationships)}}}"#
        return try await self.takeWebhook(try WebhookEvent(parsing: body.utf8), cause: Cause())
    }

    /// A verdict about Ada arrives.
    @discardableResult
    func verdict(_ id: String, _ word: String) async throws -> Bool {
        try await self.webhook(id, "customer.identification.\(word)", ["customer": "1-anc_ind_cst"])
    }

    /// Handles an event as the consumer does, from its bytes.
    func hear<Data: EventData>(_ data: Data, id: UUID? = nil) async throws {
        let attributes = EventAttributes(
            id: id ?? self.ids.next(),
            source: "test",
            type: Data.type,
            majorVersion: Data.majorVersion,
            subject: self.ada.description,
            time: Timestamp.text(self.clock.now),
            sequence: 1
        )
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        let body = try EventEnvelope.body(attributes, dataJSON: json)
        let entry = self.handlers.entries[Data.type]
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry?.handle(attributes, body, transaction)
        }
    }

    /// What notification has published, in order.
    func said() async throws -> [String] {
        try await self.database.psql("SELECT type FROM outbox ORDER BY position")
    }

    /// Titles in a user's inbox, newest first.
    func titles(_ user: UUID) async throws -> [String] {
        try await self.inbox.page(UserID(user), before: nil, limit: 50, on: self.requests).map(\.title)
    }

    // MARK: Jobs

    func check() async throws -> JobOutcome {
        try await self.run(NotificationJob.checkCustomer, self.ada.description) { try await self.checkCustomer($0) }
    }

    /// Leases a job, runs it, and records the outcome as the runner does.
    private func run(
        _ kind: JobKind,
        _ key: String,
        _ work: (Job) async throws -> JobOutcome
    ) async throws
        -> JobOutcome
    {
        let owner = self.ids.next()
        let leased = try await self.work.client.withTransaction { sql in
            try await sql.query(
                """
                UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_owner = \(owner),
                    lease_until = transfa_now() + interval '1 minute'
                WHERE kind = \(kind.rawValue) AND key = \(key) AND state = 'queued'
                RETURNING id, attempts
                """
            )
        }
        guard let (id, attempts) = try leased.first?.decode(UUID.self, Int32.self) else {
            throw TestFailure("no \(kind.rawValue) waits for \(key)")
        }
        let job = Job(
            id: id,
            key: key,
            subject: nil,
            payload: "{}",
            attempt: Int(attempts),
            cause: Cause(causationID: id),
            leaseUntil: self.clock.now,
            owner: owner
        )
        let outcome = try await work(job)
        let state =
            switch outcome {
            case .done: "done"
            case .again: "queued"
            case .failed: "failed"
            case .cancelled: "cancelled"
            }
        try await self.work.client.withTransaction { sql in
            _ = try await sql.execute(
                "UPDATE jobs SET state = \(state) WHERE id = \(id) AND state = 'running' AND lease_owner = \(owner)"
            )
        }
        return outcome
    }
}

/// Runs `body` with notification on a fresh database.
func withNotification(_ body: (NotificationWorld) async throws -> Void) async throws {
    try await withTestDatabase("notification") { database in
        let migrator = Migrator(migrations: try NotificationMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "notification-tests") { _ in SwiftLogNoOpLogHandler() }
        let requests = PostgresClient(configuration: try small(database.handlerURL), logger: logger)
        let work = PostgresClient(configuration: try small(database.workerURL), logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await requests.run() }
            group.addTask { await work.run() }
            try await body(try world(database, requests: requests, work: work, logger: logger))
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

private func world(
    _ database: TestDatabase,
    requests: PostgresClient,
    work: PostgresClient,
    logger: Logger
) throws -> NotificationWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases.
    let messaging = MessagingRuntime(
        service: .notification,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, work in
        let publishVerdict = PublishVerdict(customers: CustomerStore())
        let learn = LearnCustomer(
            customers: CustomerStore(),
            webhooks: WebhookStore(),
            publishVerdict: publishVerdict
        )
        return MessagingRuntime.Plan(handlers: NotificationHandlers.make(learnCustomer: learn, inbox: InboxStore()))
    }
    return NotificationWorld(
        database: database,
        requests: messaging.requests,
        work: messaging.work,
        clock: clock,
        ids: ids
    )
}
