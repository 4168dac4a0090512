import Primitives
import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let analytics = RouteQueries(
        [
            "GET /analytics/summary": LagosPeriod.parameters,
            "GET /analytics/series": ["period"] + LagosPeriod.parameters,
            "GET /analytics/categories": LagosPeriod.parameters,
            "GET /analytics/counterparties": ["direction", "limit"] + LagosPeriod.parameters,
        ]
    )
}
