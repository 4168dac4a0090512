import AMQP
import Contracts
import Crypto
import Foundation
import Logging
import Messaging
import Postgres
import Primitives
import Sealing
import TestSupport

@testable import AuthService

/// Auth on a database of its own, without HTTP and broker: what its use cases leave behind is rows.
struct AuthWorld {
    let database: TestDatabase
    let requests: EventDatabase
    let work: EventDatabase
    let clock: AdjustableClock
    let ids: UUIDv7Source
    let ring: MasterKeyRing
    let signer: ApprovalSigner
    let signingKey: P256.Signing.PrivateKey
    let hasher: PINHasher

    let users = UserStore()
    let pins = PINStore()
    let devices = DeviceStore()

    var vault: KeyVault { KeyVault(keys: DataKeyStore(), ring: self.ring) }
    var checkPIN: CheckPIN { CheckPIN(database: self.requests, pins: self.pins, hasher: self.hasher) }
    var setPIN: SetPIN {
        SetPIN(database: self.requests, users: self.users, pins: self.pins, hasher: self.hasher, check: self.checkPIN)
    }
    var registerDevice: RegisterDevice { RegisterDevice(users: self.users, devices: self.devices, vault: self.vault) }

    /// An event as it waits in the outbox.
    struct Said: Decodable {
        let type: String
        let sequence: Int64
        let data: String
    }

    /// What auth has said about a user, in order.
    func said(about user: UserID) async throws -> [Said] {
        try await self.work.client.query(
            "SELECT type, sequence, data FROM outbox WHERE subject = \(user.description) ORDER BY position"
        ).map { row in
            let (type, sequence, data) = try row.decode(String.self, Int64.self, String.self)
            return Said(type: type, sequence: sequence, data: data)
        }
    }

    /// How many rows a table has.
    func count(_ table: String) async throws -> Int64 {
        try await self.work.client.query("SELECT count(*) FROM \(unsafe: table)").first?.decode(Int64.self) ?? 0
    }

    /// Runs `body` in a transaction of a user.
    func asUser<Value: Sendable>(
        _ user: UserID,
        _ body: (EventTransaction) async throws -> Value
    ) async throws -> Value {
        try await self.requests.transaction(as: user, cause: Cause(), body)
    }

    /// Signs a user up.
    @discardableResult
    func onboard(_ subject: String, _ request: OnboardingRequest) async throws -> OnboardingResponse {
        let signUp = try SignUp(checking: request, today: LagosCalendar.day(of: self.clock.now))
        let user = UserID(clerkSubject: subject)
        return try await self.asUser(user) { transaction in
            try await Onboard(users: self.users, vault: self.vault)(
                signUp,
                user: user,
                clerkSubject: subject,
                in: transaction
            )
        }
    }
}

/// Runs `body` with auth on a fresh database.
func withAuth(_ body: (AuthWorld) async throws -> Void) async throws {
    try await withTestDatabase("auth") { database in
        let migrator = Migrator(migrations: try AuthMigrations.all(), variables: database.migrationVariables)
        try await migrator.run(url: database.ownerURL)
        let logger = Logger(label: "auth-tests") { _ in SwiftLogNoOpLogHandler() }
        var handler = try PostgresConfiguration(url: database.handlerURL)
        handler.leasedConnections = 8
        handler.readConnections = 1
        handler.leaseTimeout = .seconds(20)
        let requests = PostgresClient(configuration: handler, logger: logger)
        var worker = try PostgresConfiguration(url: database.workerURL)
        worker.leasedConnections = 2
        worker.readConnections = 1
        let work = PostgresClient(configuration: worker, logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await requests.run() }
            group.addTask { await work.run() }
            try await body(try world(database, requests: requests, work: work, logger: logger))
            group.cancelAll()
        }
    }
}

private func world(
    _ database: TestDatabase,
    requests: PostgresClient,
    work: PostgresClient,
    logger: Logger
) throws -> AuthWorld {
    let clock = AdjustableClock()
    let ids = UUIDv7Source(clock: clock)
    // Never run: it is only the way to the two databases.
    let messaging = MessagingRuntime(
        service: .auth,
        requests: requests,
        work: work,
        broker: try AMQPConfiguration(url: "amqp://nobody:nothing@127.0.0.1:1/%2F"),
        management: nil,
        clock: clock,
        ids: ids,
        logger: logger
    ) { _, _ in MessagingRuntime.Plan(handlers: AuthHandlers.make(users: UserStore())) }
    let signingKey = P256.Signing.PrivateKey()
    guard let signer = ApprovalSigner([signingKey]),
        let cheap = ScryptParameters(logN: 10, blockSize: 1, parallelism: 1)
    else { throw TestFailure("the keys of the test are no keys") }
    return AuthWorld(
        database: database,
        requests: messaging.requests,
        work: messaging.work,
        clock: clock,
        ids: ids,
        ring: try MasterKeyRing([MasterKey(id: "test", bytes: Array(repeating: 7, count: 32))]),
        signer: signer,
        signingKey: signingKey,
        hasher: PINHasher(parameters: cheap)
    )
}
