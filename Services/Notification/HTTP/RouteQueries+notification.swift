import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let notification = RouteQueries(
        [
            "GET /notifications": Paging.parameters
        ],
        // The provider may add to the address that it was told.
        free: ["/webhooks"]
    )
}
