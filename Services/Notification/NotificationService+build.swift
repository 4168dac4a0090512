import AnchorClient
import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The notification service.
    public static let notification = ServiceDefinition(
        name: "notification",
        needs: [.database, .broker, .clerk],
        keys: NotificationConfiguration.keys,
        migrations: { try NotificationMigrations.all() },
        build: { try NotificationParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct NotificationParts {
    let host: ServiceHost
    let configuration: NotificationConfiguration

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try NotificationConfiguration(host.settings.reader)
    }

    func wired() throws -> ServiceParts {
        let customers = CustomerStore()
        let publishVerdict = PublishVerdict(customers: customers)
        let inbox = InboxStore()
        let messaging = try self.host.messaging(as: .notification) { _, work in
            let checkCustomer = CheckCustomer(
                database: work,
                customers: customers,
                provider: self.provider(),
                publishVerdict: publishVerdict
            )
            return MessagingRuntime.Plan(
                handlers: NotificationHandlers.make(
                    learnCustomer: LearnCustomer(
                        customers: customers,
                        webhooks: WebhookStore(),
                        publishVerdict: publishVerdict
                    ),
                    inbox: inbox
                ),
                jobs: NotificationJobs.make(checkCustomer: checkCustomer)
            )
        }
        let router = self.host.router()
        WebhookController(
            tokens: self.configuration.webhookTokens,
            takeWebhook: TakeWebhook(
                database: messaging.work,
                webhooks: WebhookStore(),
                customers: customers,
                publishVerdict: publishVerdict
            ),
            metrics: WebhookMetrics(self.host.metrics)
        ).add(to: router)
        let group = router.group().add(middleware: self.host.authentication())
        InboxController(database: messaging.requests, inbox: inbox).add(to: group)
        return ServiceParts(router: router, messaging: messaging)
    }

    private func provider() -> AnchorClient {
        AnchorClient(
            baseURL: self.configuration.anchorURL,
            apiKey: self.configuration.anchorKey,
            http: self.host.http,
            deadline: CheckCustomer.deadline,
            circuit: AnchorCircuit(time: self.host.clock)
        )
    }
}
