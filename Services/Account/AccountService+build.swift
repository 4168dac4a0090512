import AnchorClient
import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The account service.
    public static let account = ServiceDefinition(
        name: "account",
        needs: [.database, .broker, .redis, .clerk, .dataKeys, .exports],
        keys: AccountConfiguration.keys,
        schema: { try AccountSchema.sets() },
        build: { try AccountParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct AccountParts {
    let host: ServiceHost
    let configuration: AccountConfiguration
    let accounts = AccountStore()
    let payments = InboundPaymentStore()

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try AccountConfiguration(host.settings.reader)
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .account) { _, work in
            MessagingRuntime.Plan(
                handlers: AccountHandlers.make(accounts: self.accounts, forget: self.host.dataKeys.forget),
                jobs: self.jobs(work),
                schedules: [SweepSchedule.make(self.accounts)]
            )
        }
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        AccountController(database: messaging.requests, accounts: self.accounts, keys: self.host.dataKeys)
            .add(to: group)
        return ServiceParts(router: router, messaging: messaging, exports: .account)
    }

    private func jobs(_ work: EventDatabase) -> [JobDefinition] {
        let provider = AnchorClient(
            baseURL: self.configuration.anchorURL,
            apiKey: self.configuration.anchorKey,
            http: self.host.http,
            deadline: ProviderCalls.deadline,
            circuit: AnchorCircuit(time: self.host.clock)
        )
        return AccountJobs.make(
            openAccount: OpenAccount(
                database: work,
                accounts: self.accounts,
                provider: provider,
                calls: ProviderCalls(database: work)
            ),
            fetchAccount: FetchAccount(
                database: work,
                accounts: self.accounts,
                keys: self.host.dataKeys,
                provider: provider
            ),
            readPayment: ReadPayment(
                database: work,
                accounts: self.accounts,
                payments: self.payments,
                provider: provider
            ),
            sweepPayments: SweepPayments(
                database: work,
                accounts: self.accounts,
                payments: self.payments,
                provider: provider,
                clock: self.host.clock
            )
        )
    }
}
