extension RouteQueries {
    /// The parameters of the routes that every service has.
    static let ofEveryService = RouteQueries([
        "GET /internal/ops/outbox/events": ["after", "limit"],
        "GET /internal/ops/inbox": ["correlation"],
        "GET /internal/ops/trace": ["correlations", "jobs", "references"],
        "GET /internal/ops/jobs": ["state", "kind", "subject", "delayed", "limit"],
        "GET /internal/ops/provider-calls": ["limit"],
        "GET /internal/ops/parked": ["subject"],
        "GET /internal/ops/audit": ["limit", "cursor", "subject"],
        "GET /internal/users/{user_id}/export": ["cursor"],
    ])
}
