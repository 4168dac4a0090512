import AMQP
import Contracts
import Foundation
import Logging
import Postgres
import Primitives
import Sealing
import ServiceKit
import TestSupport

@testable import AccountService
@testable import Messaging

/// Account on a database of its own, with the provider in memory and without HTTP and broker.
struct AccountWorld {
    let database: TestDatabase
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source
    let keys = InMemoryDataKeys()
    let provider = FakeProvider()
    let accounts = AccountStore()

    let ada = UserID(clerkSubject: "user_ada")
    let adaKey = DataKey()

    var openAccount: OpenAccount {
        OpenAccount(
            database: self.work,
            accounts: self.accounts,
            provider: self.provider,
            calls: ProviderCallLog(database: self.work)
        )
    }

    var fetchAccount: FetchAccount {
        FetchAccount(database: self.work, accounts: self.accounts, keys: self.keys, provider: self.provider)
    }

    var readPayment: ReadPayment {
        ReadPayment(
            database: self.work,
            accounts: self.accounts,
            payments: InboundPaymentStore(),
            provider: self.provider
        )
    }

    // MARK: Events

    func adaIsCustomer(_ type: AccountType = .personal) async throws {
        let created = CustomerCreated(
            userID: self.ada.uuid,
            anchorCustomerID: "1-anc_ind_cst",
            accountType: Open(type)
        )
        try await self.hear(created, sequence: 1)
    }

    func adaIsVerified() async throws {
        try await self.hear(CustomerVerified(userID: self.ada.uuid, anchorCustomerID: "1-anc_ind_cst"), sequence: 1)
    }

    /// Ada has an open wallet at the provider's account `1-anc_acc`.
    func adaHasWallet() async throws {
        try await self.adaIsCustomer()
        try await self.adaIsVerified()
        _ = try await self.open()
        self.provider.assignNumber("9000000001", name: "ADA OKONKWO")
        _ = try await self.fetch()
    }

    /// The provider says that money arrived.
    func hearPayment(_ id: String, settled: Bool = true) async throws {
        let event = ProviderPaymentReceived(
            providerPaymentID: id,
            anchorAccountID: "forged-anc_acc",
            settled: settled,
            providerEventID: "\(self.ids.next())-anc_et"
        )
        try await self.hear(event, sequence: 1)
    }

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
        let entry = AccountHandlers.make(accounts: self.accounts).entries[Data.type]
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry?.handle(attributes, body, transaction)
        }
    }

    /// The events of a kind that account has published, in order.
    func said<Data: EventData>(_ type: Data.Type) async throws -> [Data] {
        try await self.work.client.query(
            "SELECT data FROM outbox WHERE type = \(Data.type.rawValue) ORDER BY position"
        ).map { try JSONDecoder().decode(type, from: Foundation.Data(try $0.decode(String.self).utf8)) }
    }

    // MARK: Jobs

    func open() async throws -> JobOutcome {
        try await self.run(AccountJob.openAccount, self.ada.description) { try await self.openAccount($0) }
    }

    func fetch() async throws -> JobOutcome {
        try await self.run(AccountJob.fetchAccount, self.ada.description) { try await self.fetchAccount($0) }
    }

    func read(_ id: String) async throws -> JobOutcome {
        try await self.run(AccountJob.readPayment, id) { try await self.readPayment($0) }
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

/// Runs `body` with account on a fresh database.
func withAccount(_ body: (AccountWorld) async throws -> Void) async throws {
    try await withTestDatabase("account") { database in
        let migrator = Migrator(migrations: try AccountMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "account-tests") { _ in SwiftLogNoOpLogHandler() }
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
) throws -> AccountWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases.
    let messaging = MessagingRuntime(
        service: .account,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, _ in MessagingRuntime.Plan(handlers: AccountHandlers.make(accounts: AccountStore())) }
    let world = AccountWorld(
        database: database,
        requests: messaging.requests,
        work: messaging.work,
        clock: clock,
        ids: ids
    )
    world.keys.set(world.adaKey, for: world.ada)
    return world
}
