import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The subscription service.
    public static let subscription = ServiceDefinition(
        name: "subscription",
        needs: [.database, .broker, .clerk],
        migrations: { try SubscriptionMigrations.all() },
        build: { try SubscriptionParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct SubscriptionParts {
    let host: ServiceHost
    let subscriptions = SubscriptionStore()
    let usage = UsageStore()

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .subscription) { _, _ in
            MessagingRuntime.Plan(
                handlers: SubscriptionHandlers.make(subscriptions: self.subscriptions, usage: self.usage),
                schedules: [
                    Heartbeat.schedule,
                    LapseSchedule.make(LapseExpired(subscriptions: self.subscriptions)),
                ]
            )
        }
        let internalRoutes = InternalController(
            database: messaging.work,
            clock: self.host.clock,
            subscriptions: self.subscriptions,
            adjustUsage: AdjustUsage(usage: self.usage),
            activatePlan: ActivatePlan(subscriptions: self.subscriptions)
        )
        return ServiceParts(router: self.router(messaging.requests), messaging: messaging) {
            internalRoutes.add(to: $0)
        }
    }

    private func router(_ requests: EventDatabase) -> Router<AppRequestContext> {
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        StatusController(database: requests, clock: self.host.clock, subscriptions: self.subscriptions).add(to: group)
        return router
    }
}
