import AnchorClient
import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The customer service.
    public static let customer = ServiceDefinition(
        name: "customer",
        needs: [.database, .broker, .redis, .clerk, .dataKeys, .exports],
        keys: CustomerConfiguration.keys,
        schema: { try CustomerSchema.sets() },
        build: { try CustomerParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct CustomerParts {
    let host: ServiceHost
    let configuration: CustomerConfiguration
    let users = CustomerUserStore()
    let beneficiaries = BeneficiaryStore()
    let enquiries = EnquiryStore()
    let banks = BankListStore()
    let transfers = TransferStore()
    let images = ImageStore()
    let documents = DocumentStore()
    let exports = ExportStore()
    let desk: ImageDesk

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try CustomerConfiguration(host.settings.reader, auth: host.settings.dataKeys.url)
        self.desk = try host.imageDesk()
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .customer) { _, work in
            MessagingRuntime.Plan(
                handlers: CustomerHandlers.make(
                    users: self.users,
                    images: self.images,
                    transfers: self.transfers,
                    documents: self.documents,
                    exports: self.exports,
                    forget: self.host.dataKeys.forget
                ),
                jobs: self.jobs(work),
                schedules: CustomerSchedules.make(enquiries: self.enquiries, exports: self.exports)
            )
        }
        let internalRoutes = InternalController(
            database: messaging.work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            restrictUser: RestrictUser(users: self.users)
        )
        return ServiceParts(
            router: self.router(messaging.requests, messaging.work),
            messaging: messaging,
            services: [
                ExportMetrics(
                    store: self.exports,
                    database: messaging.work,
                    clock: self.host.clock,
                    registry: self.host.metrics,
                    logger: self.host.logger
                )
            ],
            queries: .customer,
            exports: .customer
        ) {
            internalRoutes.add(to: $0)
            TierController(database: messaging.work, tiers: TierStore(), changeTier: ChangeTier(tiers: TierStore()))
                .add(to: $0)
            BeneficiaryReviewController(
                database: messaging.work,
                users: self.users,
                beneficiaries: self.beneficiaries,
                keys: self.host.dataKeys,
                decide: DecideBeneficiary(users: self.users, beneficiaries: self.beneficiaries)
            ).add(to: $0)
        }
    }

    private func jobs(_ work: EventDatabase) -> [JobDefinition] {
        let provider = AnchorClient(
            baseURL: self.configuration.anchorURL,
            apiKey: self.configuration.anchorKey,
            http: self.host.http,
            deadline: ProviderCalls.deadline,
            circuit: AnchorCircuit(time: self.host.clock)
        )
        let calls = ProviderCalls(database: work)
        let openDetails = OpenDetails(keys: self.host.dataKeys)
        let directory = BankDirectory(provider: provider, clock: self.host.clock)
        return CustomerJobs.make(
            createCustomer: CreateCustomer(
                database: work,
                users: self.users,
                openDetails: openDetails,
                provider: provider,
                calls: calls,
                standIns: self.configuration.standIns
            ),
            startVerification: StartVerification(
                database: work,
                users: self.users,
                openDetails: openDetails,
                provider: provider,
                calls: calls
            ),
            verifyBeneficiary: self.verifyBeneficiary(work, provider, directory, calls),
            compareNames: CompareNames(
                database: work,
                users: self.users,
                beneficiaries: self.beneficiaries,
                keys: self.host.dataKeys,
                nameLengths: self.configuration.nameLengths
            ),
            answerEnquiry: AnswerEnquiry(
                database: work,
                enquiries: self.enquiries,
                keys: self.host.dataKeys,
                provider: provider,
                banks: directory,
                clock: self.host.clock
            ),
            refreshBanks: RefreshBanks(database: work, store: self.banks, provider: provider),
            discardImage: DiscardImage(database: work, users: self.users, images: self.images, desk: self.desk),
            listDocuments: ListDocuments(
                database: work,
                users: self.users,
                documents: self.documents,
                provider: provider,
                clock: self.host.clock
            ),
            deliverDocument: DeliverDocument(
                database: work,
                users: self.users,
                documents: self.documents,
                keys: self.host.dataKeys,
                provider: provider,
                calls: calls,
                clock: self.host.clock
            ),
            collectExport: self.collectExport(work)
        )
    }

    private func collectExport(_ work: EventDatabase) -> CollectExport {
        CollectExport(
            database: work,
            exports: self.exports,
            sources: ExportClient(
                addresses: self.configuration.addresses,
                token: self.host.settings.exportTokens.current,
                http: self.host.http
            ),
            keys: self.host.dataKeys,
            clock: self.host.clock
        )
    }

    private func verifyBeneficiary(
        _ work: EventDatabase,
        _ provider: AnchorClient,
        _ directory: BankDirectory,
        _ calls: ProviderCalls
    ) -> VerifyBeneficiary {
        VerifyBeneficiary(
            database: work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            keys: self.host.dataKeys,
            provider: provider,
            banks: directory,
            calls: calls,
            nameLengths: self.configuration.nameLengths
        )
    }

    private func router(_ requests: EventDatabase, _ work: EventDatabase) -> Router<AppRequestContext> {
        let once = ChangeOnce(
            executor: self.host.idempotency(),
            database: requests,
            hashingWith: [self.configuration.index]
        )
        let router = self.host.router()
        let users = self.users
        let routes = ProfileGate.Routes(
            asking: ["GET /users", "GET /users/{username}"],
            free: ["POST /users/me/export"]
        )
        let gate = ProfileGate(routes) { try await users.state(of: $0, on: requests) }
        let group = router.group().add(middleware: self.host.authentication()).add(middleware: gate)
        BeneficiaryController(
            once: once,
            keys: self.host.dataKeys,
            beneficiaries: self.beneficiaries,
            addBeneficiary: AddBeneficiary(
                users: self.users,
                beneficiaries: self.beneficiaries,
                index: self.configuration.index
            ),
            awaitVerification: AwaitVerification(database: requests, beneficiaries: self.beneficiaries),
            chooseDefault: ChooseDefault(users: self.users, beneficiaries: self.beneficiaries),
            removeBeneficiary: RemoveBeneficiary(users: self.users, beneficiaries: self.beneficiaries)
        ).add(to: group)
        BankController(
            once: once,
            keys: self.host.dataKeys,
            banks: self.banks,
            enquiries: self.enquiries,
            enquireName: EnquireName(users: self.users, enquiries: self.enquiries)
        ).add(to: group)
        SettingsController(
            once: once,
            users: self.users,
            changeSettings: ChangeSettings(users: self.users)
        ).add(to: group)
        self.addProfiles(once, work, to: group)
        DocumentController(
            once: once,
            keys: self.host.dataKeys,
            desk: self.desk,
            documents: self.documents,
            handIn: HandInDocument(users: self.users, documents: self.documents)
        ).add(to: group)
        ExportController(
            database: requests,
            keys: self.host.dataKeys,
            exports: self.exports,
            askForExport: AskForExport(users: self.users, exports: self.exports),
            clock: self.host.clock
        ).add(to: group)
        let images = ImageController(
            once: once,
            workers: work,
            desk: self.desk,
            images: self.images,
            changeImage: ChangeImage(users: self.users, images: self.images)
        )
        images.add(to: group)
        images.addPublic(to: router)
        return router
    }

    /// What people see of each other, and whom they do not want to see.
    private func addProfiles(_ once: ChangeOnce, _ work: EventDatabase, to group: RouterGroup<AppRequestContext>) {
        let profiles = ProfileStore(database: work)
        ProfileController(database: once.database, profiles: profiles, transfers: self.transfers).add(to: group)
        BlockController(
            once: once,
            profiles: profiles,
            blocks: BlockStore(),
            changeBlock: ChangeBlock(users: self.users, blocks: BlockStore())
        ).add(to: group)
        QRController(database: once.database, users: self.users, linkBase: self.configuration.linkBase)
            .add(to: group)
    }
}
