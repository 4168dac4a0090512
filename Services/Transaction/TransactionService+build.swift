import AnchorClient
import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The transaction service.
    public static let transaction = ServiceDefinition(
        name: "transaction",
        needs: [.database, .broker, .clerk, .auth],
        keys: TransactionConfiguration.keys,
        migrations: { try TransactionMigrations.all() },
        build: { try TransactionParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct TransactionParts {
    let host: ServiceHost
    let configuration: TransactionConfiguration

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try TransactionConfiguration(host.settings.reader)
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .transaction) { _, work in
            MessagingRuntime.Plan(
                handlers: TransactionHandlers.make(ReadModelStore()),
                jobs: self.jobs(work),
                schedules: TransactionSchedules.all
            )
        }
        let store = AcceptanceStore(client: self.host.handlers)
        let acceptor = PaymentAcceptor(store: store)
        let accept = AcceptPayment(
            acceptor: acceptor,
            store: store,
            database: messaging.requests,
            keys: self.host.dataKeys,
            ids: self.host.ids
        )
        return ServiceParts(router: self.router(accept), messaging: messaging, services: [acceptor]) {
            InvariantsController(store: InvariantStore(client: self.host.workers)).add(to: $0)
        }
    }

    private func jobs(_ work: EventDatabase) -> [JobDefinition] {
        let circuit = AnchorCircuit(time: self.host.clock)
        let store = SubmissionStore()
        let client = AnchorClient(
            baseURL: self.configuration.anchorURL,
            apiKey: self.configuration.anchorKey,
            http: self.host.http,
            deadline: SubmissionStore.callDeadline,
            circuit: circuit
        )
        let provider = AnchorTransfers(client: client, circuit: circuit, clock: self.host.clock)
        return TransactionJobs.make(
            submit: SubmitTransfers(
                database: work,
                store: store,
                provider: provider,
                clock: self.host.clock,
                logger: self.host.logger
            ),
            facts: ApplyTransferFacts(database: work, store: store),
            credits: CreditWallets(database: work, store: store),
            check: CheckTransfer(database: work, store: store, provider: provider)
        )
    }

    private func router(_ accept: AcceptPayment) -> Router<AppRequestContext> {
        let history = HistoryStore(client: self.host.handlers, workers: self.host.workers)
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        PaymentController(
            accept: accept,
            approvals: self.host.approvals { try await history.deviceKey($0, of: $1) }
        ).add(to: group)
        HistoryController(store: history, keys: self.host.dataKeys).add(to: group)
        return router
    }
}
