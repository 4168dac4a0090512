import AnchorClient
import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The customer service.
    public static let customer = ServiceDefinition(
        name: "customer",
        needs: [.database, .broker, .redis, .clerk, .auth],
        keys: CustomerConfiguration.keys,
        migrations: { try CustomerMigrations.all() },
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
    let desk: ImageDesk

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try CustomerConfiguration(host.settings.reader)
        self.desk = try host.imageDesk()
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .customer) { _, work in
            MessagingRuntime.Plan(
                handlers: CustomerHandlers.make(
                    users: self.users,
                    images: self.images,
                    transfers: self.transfers,
                    forget: self.host.dataKeys.forget
                ),
                jobs: self.jobs(work),
                schedules: CustomerSchedules.make(enquiries: self.enquiries)
            )
        }
        let internalRoutes = InternalController(
            database: messaging.work,
            users: self.users,
            beneficiaries: self.beneficiaries,
            restrictUser: RestrictUser(users: self.users)
        )
        return ServiceParts(router: self.router(messaging.requests, messaging.work), messaging: messaging) {
            internalRoutes.add(to: $0)
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
                calls: calls
            ),
            startVerification: StartVerification(
                database: work,
                users: self.users,
                openDetails: openDetails,
                provider: provider,
                calls: calls
            ),
            verifyBeneficiary: VerifyBeneficiary(
                database: work,
                users: self.users,
                beneficiaries: self.beneficiaries,
                keys: self.host.dataKeys,
                provider: provider,
                banks: directory,
                calls: calls
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
            discardImage: DiscardImage(database: work, users: self.users, images: self.images, desk: self.desk)
        )
    }

    private func router(_ requests: EventDatabase, _ work: EventDatabase) -> Router<AppRequestContext> {
        let mutation = Mutation(
            database: requests,
            executor: self.host.idempotency(),
            index: self.configuration.index
        )
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        BeneficiaryController(
            mutation: mutation,
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
            mutation: mutation,
            keys: self.host.dataKeys,
            banks: self.banks,
            enquiries: self.enquiries,
            enquireName: EnquireName(users: self.users, enquiries: self.enquiries)
        ).add(to: group)
        SettingsController(
            mutation: mutation,
            users: self.users,
            changeSettings: ChangeSettings(users: self.users)
        ).add(to: group)
        ProfileController(
            database: requests,
            profiles: ProfileStore(database: work),
            transfers: self.transfers
        ).add(to: group)
        QRController(database: requests, users: self.users, linkBase: self.configuration.linkBase).add(to: group)
        let images = ImageController(
            mutation: mutation,
            workers: work,
            desk: self.desk,
            images: self.images,
            changeImage: ChangeImage(users: self.users, images: self.images)
        )
        images.add(to: group)
        images.addPublic(to: router)
        return router
    }
}
