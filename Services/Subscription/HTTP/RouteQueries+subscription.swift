import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let subscription = RouteQueries(
        [
            "GET /internal/subscriptions/status": ["user_id"]
        ]
    )
}
