import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The analytics service.
    public static let analytics = ServiceDefinition(
        name: "analytics",
        needs: [.database, .broker, .clerk],
        migrations: { try AnalyticsMigrations.all() },
        build: { try AnalyticsParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct AnalyticsParts {
    let host: ServiceHost
    let movements = MovementStore()
    let totals = DailyTotalStore()

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .analytics) { _, _ in
            MessagingRuntime.Plan(handlers: AnalyticsHandlers.make(movements: self.movements))
        }
        return ServiceParts(router: self.router(messaging.requests), messaging: messaging)
    }

    private func router(_ requests: EventDatabase) -> Router<AppRequestContext> {
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        SummaryController(database: requests, clock: self.host.clock, totals: self.totals).add(to: group)
        return router
    }
}
