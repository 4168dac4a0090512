import AMQP
import Contracts
import Foundation
import Logging
import Messaging
import Postgres
import Primitives
import TestSupport

let quiet = Logger(label: "messaging-bench") { _ in SwiftLogNoOpLogHandler() }

/// A database with the tables of a service and one for effects, a pool on it, and a virtual host of the broker.
struct Ground {
    let database: TestDatabase
    let client: PostgresClient
    let vhost: TestVhost
    let broker: AMQPConfiguration

    static func with(_ body: (Ground) async throws -> Void) async throws {
        try await withTestDatabase("bench") { database in
            try await withTestVhost { vhost in
                try await Migrator(
                    sets: try MessagingSchema.sets(around: [SchemaSet(name: "bench", migrations: [Self.effects])]),
                    variables: database.migrationVariables
                ).run(url: database.ownerURL)
                let ground = Ground(
                    database: database,
                    client: PostgresClient(
                        configuration: try PostgresConfiguration(url: database.workerURL),
                        logger: quiet
                    ),
                    vhost: vhost,
                    broker: try AMQPConfiguration(url: vhost.url)
                )
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { await ground.client.run() }
                    try await body(ground)
                    group.cancelAll()
                }
            }
        }
    }

    private static let effects = Migration(
        set: "bench",
        number: 1,
        name: "effects",
        sql: """
            CREATE TABLE effects (
                position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, user_id uuid NOT NULL, amount bigint NOT NULL
            );
            GRANT SELECT, INSERT ON effects TO ${worker};
            """
    )

    /// Relay, consumers and everything else that moves the events of a service, as in production.
    func runtime(_ service: ServiceName, _ handlers: EventHandlers) -> MessagingRuntime {
        MessagingRuntime(
            service: service,
            requests: self.client,
            work: self.client,
            broker: self.broker,
            management: nil,
            clock: SystemClock(),
            ids: UUIDv7Source(),
            logger: quiet
        ) { _, _ in MessagingRuntime.Plan(handlers: handlers) }
    }

    /// Messages that wait in a queue; nil while it does not exist.
    func length(of queue: String) async -> Int? {
        try? await AMQPAdmin.withConnection(self.broker, logger: quiet) { try await $0.passiveDeclare(queue).messages }
    }

    func number(_ statement: SQL) async throws -> Int {
        Int(try await self.client.query(statement).first?.decode(Int64.self) ?? 0)
    }
}

/// What a credit of a wallet looks like.
func credit(_ number: Int, of user: UUID) -> WalletCredited {
    WalletCredited(
        userID: user,
        paymentID: user,
        providerPaymentID: "payment-\(number)",
        anchorAccountID: "account-\(number % 97)",
        amount: Int64(number),
        timestamp: "2026-11-21T00:00:00.000Z"
    )
}

/// The people that events are about, in turn.
let users = (0..<1_000).map { _ in UUID() }
