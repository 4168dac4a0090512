import AnchorClient
import Contracts
import Documents
import Hummingbird
import Messaging
import Sealing
public import ServiceKit

extension ServiceDefinition {
    /// The transaction service.
    public static let transaction = ServiceDefinition(
        name: "transaction",
        needs: [.database, .broker, .redis, .clerk, .auth, .dataKeys, .ownCounts, .exports],
        keys: TransactionConfiguration.keys,
        schema: { try TransactionSchema.sets() },
        build: { try TransactionParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct TransactionParts {
    let host: ServiceHost
    let configuration: TransactionConfiguration
    let desk: ImageDesk

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try TransactionConfiguration(host.settings.reader)
        self.desk = try host.imageDesk()
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .transaction) { _, work in
            MessagingRuntime.Plan(
                handlers: TransactionHandlers.make(ReadModelStore(), forget: self.host.dataKeys.forget),
                jobs: self.jobs(work),
                schedules: TransactionSchedules.all(self.reconciliation, self.recoveries, self.bills)
            )
        }
        let store = OrderStore(client: self.host.handlers)
        let batcher = OrderBatcher(store: store)
        let place = PlaceOrder(
            batcher: batcher,
            store: store,
            database: messaging.requests,
            keys: self.host.dataKeys,
            ids: self.host.ids
        )
        return ServiceParts(
            router: self.router(place, messaging.requests),
            messaging: messaging,
            services: [
                batcher,
                BreakMetrics(store: self.reconciliation, registry: self.host.metrics, logger: self.host.logger),
                LedgerMetrics(
                    store: OpenTransferStore(client: self.host.workers),
                    registry: self.host.metrics,
                    logger: self.host.logger
                ),
                RecoveryMetrics(store: self.recoveries, registry: self.host.metrics, logger: self.host.logger),
                BillMetrics(store: self.bills, registry: self.host.metrics, logger: self.host.logger),
                DisputeMetrics(store: self.disputes, registry: self.host.metrics, logger: self.host.logger),
            ],
            queries: .transaction,
            exports: .transaction
        ) {
            InvariantsController(store: InvariantStore(client: self.host.workers)).add(to: $0)
            OpenTransferController(store: OpenTransferStore(client: self.host.workers)).add(to: $0)
            RiskAlertController(store: RiskAlertStore(), database: messaging.work).add(to: $0)
            BankHealthController(store: BankHealthStore(client: self.host.workers)).add(to: $0)
            ReconciliationController(store: self.reconciliation, database: messaging.work).add(to: $0)
            RecoveryController(store: self.recoveries, database: messaging.work).add(to: $0)
            SuspenseController(
                store: SuspenseStore(client: self.host.workers),
                database: messaging.work,
                ids: self.host.ids
            ).add(to: $0)
            TransferDeskController(
                store: TransferDeskStore(client: self.host.workers),
                database: messaging.work,
                ids: self.host.ids
            ).add(to: $0)
            WalletDeskController(store: WalletDeskStore(client: self.host.workers), database: messaging.work).add(
                to: $0
            )
            DisputeDeskController(
                store: self.disputes,
                database: messaging.work,
                view: DisputeView(keys: self.host.dataKeys),
                clock: self.host.clock
            ).add(to: $0)
        }
    }

    private var disputes: DisputeStore { DisputeStore(client: self.host.handlers, workers: self.host.workers) }

    private var reconciliation: ReconciliationStore {
        ReconciliationStore(client: self.host.workers, poolAccount: self.configuration.poolAccount)
    }

    private var recoveries: RecoveryStore {
        RecoveryStore(client: self.host.workers, poolAccount: self.configuration.poolAccount)
    }

    private var bills: BillStore { BillStore(client: self.host.workers, billing: self.configuration.billing) }

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
        let repeats = AnchorRepeats(time: self.host.clock)
        let books = AnchorBooks(client: client, readsBills: self.configuration.billing.payer != .nobody)
        return TransactionJobs.make(
            submit: SubmitTransfers(
                database: work,
                store: store,
                provider: provider,
                clock: self.host.clock,
                logger: self.host.logger,
                repeats: repeats
            ),
            facts: ApplyTransferFacts(
                database: work,
                store: store,
                provider: provider,
                repeats: repeats,
                clock: self.host.clock
            ),
            credits: CreditWallets(database: work, store: store),
            check: CheckTransfer(database: work, store: store, provider: provider),
            charges: ChargeSubscriptions(database: work, store: ChargeStore()),
            reconcile: ReconcileAccount(
                database: work,
                store: self.reconciliation,
                bills: self.bills,
                provider: books,
                clock: self.host.clock
            ),
            recover: RecoverAccount(
                database: work,
                recoveries: self.recoveries,
                books: self.reconciliation,
                bills: self.bills,
                transfers: store,
                provider: books,
                questions: provider,
                clock: self.host.clock
            ),
            bills: BookBills(database: work, store: self.bills, provider: books, clock: self.host.clock),
            discardImage: DiscardRequestImage(database: work, images: self.images, desk: self.desk),
            closeProducts: CloseProducts(database: work, store: ClosureStore(), images: self.images)
        )
    }

    private var images: RequestImageStore { RequestImageStore(workers: self.host.workers) }

    private var drops: MoneyDropStore { MoneyDropStore(client: self.host.handlers, workers: self.host.workers) }

    private var requests: PaymentRequestStore {
        PaymentRequestStore(client: self.host.handlers, workers: self.host.workers)
    }

    private func router(_ place: PlaceOrder, _ database: EventDatabase) -> Router<AppRequestContext> {
        let history = HistoryStore(client: self.host.handlers, workers: self.host.workers)
        let approvals = self.host.approvals()
        let executor = self.host.idempotency()
        let orders = OrderDesk(place: place, approvals: approvals, executor: executor)
        let once = ChangeOnce(executor: executor, database: database)
        let router = self.host.router()
        let gate = ProfileGate(Self.gatedRoutes) { try await history.state(of: $0) }
        let group = router.group().add(middleware: self.host.authentication()).add(middleware: gate)
        PaymentController(
            orders: orders,
            quote: QuoteOrder(store: QuoteStore(client: self.host.handlers), clock: self.host.clock)
        ).add(to: group)
        HistoryController(store: history, keys: self.host.dataKeys).add(to: group)
        DisputeController(
            store: self.disputes,
            history: history,
            view: DisputeView(keys: self.host.dataKeys),
            once: once
        ).add(to: group)
        self.addDocuments(history, to: group)
        self.moneyDrops(orders, history, executor, database).add(to: group)
        PaymentRequestController(
            orders: orders,
            store: self.requests,
            view: PaymentRequestView(names: history, keys: self.host.dataKeys),
            once: once,
            linkBase: self.configuration.linkBase
        ).add(to: group)
        QRController(drops: self.drops, requests: self.requests).add(to: group)
        let pictures = RequestImageController(
            store: self.requests,
            images: self.images,
            desk: self.desk,
            database: database,
            once: once
        )
        pictures.add(to: group)
        pictures.addPublic(to: router)
        LimitsController(store: LimitStore(client: self.host.handlers), approvals: approvals, once: once).add(to: group)
        return router
    }

    /// Orders look at their sender themselves.
    private static let gatedRoutes = ProfileGate.Routes(
        deciding: [
            "POST /transactions/p2p", "POST /transactions/self-transfer", "POST /money-drops",
            "POST /money-drops/{id}/claim", "POST /payment-requests/{id}/pay",
        ]
    )

    private func addDocuments(_ history: HistoryStore, to group: RouterGroup<AppRequestContext>) {
        let statements = StatementStore(client: self.host.handlers)
        let renderer = PDFRenderer()
        StatementController(
            store: statements,
            write: WriteStatement(store: statements, names: history, renderer: renderer),
            clock: self.host.clock
        ).add(to: group)
        let receipts = WriteReceipt(
            store: ReceiptStore(client: self.host.handlers),
            names: history,
            keys: self.host.dataKeys,
            renderer: renderer
        )
        ReceiptController(write: receipts, clock: self.host.clock).add(to: group)
    }

    private func moneyDrops(
        _ orders: OrderDesk,
        _ history: HistoryStore,
        _ executor: IdempotentExecutor,
        _ database: EventDatabase
    ) -> MoneyDropController {
        // Without a pepper: a drop's password guards one pool for a while, and is shared among strangers.
        let hasher = PINHasher(threads: 1)
        return MoneyDropController(
            orders: orders,
            create: CreateMoneyDrop(
                hasher: hasher,
                poolAccount: self.configuration.poolAccount,
                linkBase: self.configuration.linkBase
            ),
            claim: ClaimMoneyDrop(store: self.drops, hasher: hasher),
            store: self.drops,
            view: MoneyDropView(names: history, keys: self.host.dataKeys),
            executor: executor,
            database: database,
            keyedHash: self.host.keyedHash
        )
    }
}
