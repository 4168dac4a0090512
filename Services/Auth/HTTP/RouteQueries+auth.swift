import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service: none.
    static let auth = RouteQueries(
        // The identity provider may add to the address that it was told.
        free: ["/webhooks"]
    )
}
