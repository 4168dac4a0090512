import AMQP
import Contracts
import Foundation
import Logging
import Postgres
import Primitives
import Sealing
import ServiceKit
import TestSupport

@testable import CustomerService
@testable import Messaging

/// Customer on a database of its own, with the provider in memory and without HTTP and broker.
struct CustomerWorld {
    let database: TestDatabase
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source
    let keys = InMemoryDataKeys()
    let provider = FakeProvider()
    let index: BlindIndex

    let users = CustomerUserStore()
    let beneficiaries = BeneficiaryStore()

    let ada = UserID(clerkSubject: "user_ada")
    let adaKey = DataKey()

    private var calls: ProviderCallLog { ProviderCallLog(database: self.work) }
    private var openDetails: OpenDetails { OpenDetails(keys: self.keys) }

    var createCustomer: CreateCustomer {
        CreateCustomer(
            database: self.work,
            users: self.users,
            openDetails: self.openDetails,
            provider: self.provider,
            calls: self.calls
        )
    }

    var startVerification: StartVerification {
        StartVerification(
            database: self.work,
            users: self.users,
            openDetails: self.openDetails,
            provider: self.provider,
            calls: self.calls
        )
    }

    var verifyBeneficiary: VerifyBeneficiary {
        VerifyBeneficiary(
            database: self.work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            keys: self.keys,
            provider: self.provider,
            banks: BankDirectory(provider: self.provider, clock: self.clock),
            calls: self.calls
        )
    }

    // MARK: Events

    /// Handles an event as the consumer does, from its bytes.
    func hear<Data: EventData>(_ data: Data, sequence: Int64) async throws {
        let attributes = EventAttributes(
            id: self.ids.next(),
            source: "test",
            type: Data.type,
            majorVersion: Data.majorVersion,
            subject: self.ada.description,
            time: Timestamp.text(self.clock.now),
            sequence: sequence
        )
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        let body = try EventEnvelope.body(attributes, dataJSON: json)
        let entry = CustomerHandlers.make(users: self.users).entries[Data.type]
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry?.handle(attributes, body, transaction)
        }
    }

    /// What customer has said, in order.
    func said() async throws -> [(type: String, data: String)] {
        try await self.work.client.query("SELECT type, data FROM outbox ORDER BY position").map { row in
            let (type, data) = try row.decode(String.self, String.self)
            return (type, data)
        }
    }

    /// The last event of a kind.
    func last<Data: EventData>(_ type: Data.Type) async throws -> Data? {
        try await self.said().last { $0.type == Data.type.rawValue }.map {
            try JSONDecoder().decode(type, from: Foundation.Data($0.data.utf8))
        }
    }

    // MARK: Jobs

    /// The state of a job; nil when there is none.
    func state(of kind: JobKind, _ key: String) async throws -> String? {
        try await self.work.client.query(
            "SELECT state FROM jobs WHERE kind = \(kind.rawValue) AND key = \(key)"
        ).first?.decode(String.self)
    }

    /// Leases a job, runs it, and records the outcome as the runner does.
    func run(_ kind: JobKind, _ key: String, _ work: (Job) async throws -> JobOutcome) async throws -> JobOutcome {
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

    /// Runs a body in a transaction of Ada's.
    func asAda<Value: Sendable>(_ body: (EventTransaction) async throws -> Value) async throws -> Value {
        try await self.requests.transaction(as: self.ada, cause: Cause(), body)
    }
}

/// Runs `body` with customer on a fresh database.
func withCustomer(_ body: (CustomerWorld) async throws -> Void) async throws {
    try await withTestDatabase("customer") { database in
        let migrator = Migrator(migrations: try CustomerMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "customer-tests") { _ in SwiftLogNoOpLogHandler() }
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
    configuration.leasedConnections = 2
    configuration.readConnections = 1
    return configuration
}

private func world(
    _ database: TestDatabase,
    requests: PostgresClient,
    work: PostgresClient,
    logger: Logger
) throws -> CustomerWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases.
    let messaging = MessagingRuntime(
        service: .customer,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, _ in MessagingRuntime.Plan(handlers: CustomerHandlers.make(users: CustomerUserStore())) }
    let world = CustomerWorld(
        database: database,
        requests: messaging.requests,
        work: messaging.work,
        clock: clock,
        ids: ids,
        index: try BlindIndex(key: Array(repeating: 3, count: 32))
    )
    world.keys.set(world.adaKey, for: world.ada)
    return world
}
