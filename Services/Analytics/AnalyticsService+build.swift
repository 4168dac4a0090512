import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The analytics service.
    public static let analytics = ServiceDefinition(
        name: "analytics",
        needs: [.database, .broker, .redis, .clerk, .dataKeys, .exports],
        schema: { try AnalyticsSchema.sets() },
        build: { try AnalyticsParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct AnalyticsParts {
    let host: ServiceHost
    let facts = FactStore()
    let counterparties = CounterpartyStore()
    let categories = CategoryStore()

    func wired() throws -> ServiceParts {
        let money = MoneyProjection.make(self.facts)
        let messaging = try self.host.messaging(as: .analytics) { _, work in
            MessagingRuntime.Plan(
                handlers: AnalyticsHandlers.make(money: money, people: self.counterparties),
                jobs: AnalyticsJobs.make(
                    words: ReadWords(database: work, facts: self.facts, money: money, keys: self.host.dataKeys)
                ),
                projections: [money]
            )
        }
        return ServiceParts(
            router: self.router(messaging.requests),
            messaging: messaging,
            queries: .analytics,
            exports: .analytics
        )
    }

    private func router(_ requests: EventDatabase) -> Router<AppRequestContext> {
        let router = self.host.router()
        let group = router.group().add(middleware: self.host.authentication())
        InsightsController(
            database: requests,
            clock: self.host.clock,
            totals: TotalStore(),
            categories: self.categories,
            counterparties: self.counterparties
        ).add(to: group)
        CategoryController(database: requests, categories: self.categories, executor: self.host.idempotency())
            .add(to: group)
        return router
    }
}
