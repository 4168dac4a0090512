import ServiceKit

extension RouteQueries {
    /// The query parameters of the routes of this service.
    static let console = RouteQueries(
        [
            "GET /internal/archive/events": EventFilter.parameters + Paging.parameters,
            "GET /internal/archive/feed": EventFilter.parameters + Paging.parameters + ["begin", "format", "wait"],
            "GET /internal/replays": Paging.parameters,
            "GET /internal/replays/{id}/changes": ["kind"] + Paging.parameters,
            "GET /internal/replays/{id}/problems": Paging.parameters,
        ]
    )
}
