import AnchorClient
import Contracts
import Hummingbird
import Messaging
import OutgoingHTTP
import Primitives
public import ServiceKit

extension ServiceDefinition {
    /// The notification service.
    public static let notification = ServiceDefinition(
        name: "notification",
        needs: [.database, .broker, .redis, .clerk, .dataKeys, .exports],
        keys: NotificationConfiguration.keys,
        schema: { try NotificationSchema.sets() },
        build: { host in
            let parts = try NotificationParts(host: host)
            do {
                return try parts.wired()
            } catch {
                await parts.apple?.shutdown()
                throw error
            }
        }
    )
}

/// Every wire of the service.
struct NotificationParts {
    let host: ServiceHost
    let configuration: NotificationConfiguration
    let customers = CustomerStore()
    let inbox = InboxStore()
    let pushes = PushStore()
    let access = AccessStore()
    /// The connection to Apple; nil when nothing is pushed.
    let apple: HTTPClient?

    init(host: ServiceHost) throws {
        self.host = host
        self.configuration = try NotificationConfiguration(host.settings.reader)
        self.apple = try self.configuration.push?.makeHTTPClient(OutgoingCallMetrics(host.metrics))
    }

    func wired() throws -> ServiceParts {
        let notices = FileNotices(inbox: self.inbox, pushes: self.apple.map { _ in self.pushes })
        let publishVerdict = PublishVerdict(customers: self.customers, notices: notices)
        let messaging = try self.host.messaging(as: .notification) { _, work in
            self.plan(work, publishVerdict, notices)
        }
        let hub = StreamHub(
            limits: StreamHub.Limits(perProcess: self.configuration.streams),
            database: messaging.work,
            store: StreamStore(),
            logger: self.host.logger
        )
        let lane = WebhookLane(
            takeWebhook: TakeWebhook(
                database: messaging.work,
                webhooks: WebhookStore(),
                customers: self.customers
            )
        )
        let router = self.host.router()
        WebhookController(
            tokens: self.configuration.webhookTokens.all,
            lane: lane,
            memory: self.host.messageMemory(),
            metrics: WebhookMetrics(self.host.metrics)
        ).add(to: router)
        self.addRoutes(to: self.group(router, messaging.requests), messaging.requests, hub)
        return ServiceParts(
            router: router,
            messaging: messaging,
            services: [hub, lane] + (self.apple.map { [PushConnection(http: $0)] } ?? []),
            queries: .notification,
            exports: .notification
        )
    }

    /// The routes that need a session.
    private func group(
        _ router: Router<AppRequestContext>,
        _ requests: EventDatabase
    ) -> RouterGroup<AppRequestContext> {
        let profiles = ProfileStore()
        // What is read is marked so, and a phone can be made silent.
        let free: Set = ["POST /notifications/read-all", "POST /notifications/{id}/read", "DELETE /push-tokens/{id}"]
        let gate = ProfileGate(ProfileGate.Routes(free: free)) { try await profiles.state(of: $0, on: requests) }
        return router.group().add(middleware: self.host.authentication()).add(middleware: gate)
    }

    private func addRoutes(to group: RouterGroup<AppRequestContext>, _ requests: EventDatabase, _ hub: StreamHub) {
        let once = ChangeOnce(executor: self.host.idempotency(), database: requests)
        InboxController(database: requests, inbox: self.inbox, once: once).add(to: group)
        PreferenceController(database: requests, preferences: PreferenceStore(), once: once).add(to: group)
        StreamController(
            database: requests,
            inbox: self.inbox,
            access: self.access,
            hub: hub,
            clock: self.host.clock
        ).add(to: group)
        PushTokenController(
            database: requests,
            pushes: self.pushes,
            access: self.access,
            sealToken: SealPushToken(keys: self.host.dataKeys),
            once: once
        ).add(to: group)
    }

    private func plan(
        _ work: EventDatabase,
        _ publishVerdict: PublishVerdict,
        _ notices: FileNotices
    ) -> MessagingRuntime.Plan {
        let provider = self.provider()
        return MessagingRuntime.Plan(
            handlers: NotificationHandlers.make(telling: notices),
            jobs: NotificationJobs.make(
                checkCustomer: CheckCustomer(
                    database: work,
                    customers: self.customers,
                    provider: provider,
                    publishVerdict: publishVerdict
                ),
                confirmVerdict: ConfirmVerdict(
                    database: work,
                    customers: self.customers,
                    provider: provider,
                    publishVerdict: publishVerdict,
                    clock: self.host.clock
                ),
                sendPush: self.sendPush(work)
            ),
            schedules: [Retention.schedule(keeping: self.configuration.retention, inbox: self.inbox)]
        )
    }

    private func sendPush(_ work: EventDatabase) -> SendPush? {
        guard let push = self.configuration.push, let http = self.apple else { return nil }
        return SendPush(
            database: work,
            pushes: self.pushes,
            keys: self.host.dataKeys,
            sender: APNsClient(
                configuration: push,
                // Apple's clock cannot be moved.
                tokens: ProviderTokens(push, time: SystemClock()),
                http: http
            ),
            clock: self.host.clock
        )
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
