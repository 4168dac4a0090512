import Hummingbird
import Postgres
import ServiceKit

/// GET /internal/invariants: what in the books does not hold; an empty list when all does.
struct InvariantsController: Sendable {
    let client: PostgresClient

    private struct Breach: Encodable {
        let name: String
        let detail: String
    }

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/invariants") { request, context in
            let rows = try await self.client.query("SELECT name, detail FROM check_invariants()")
            let breaches = try rows.map { row in
                let (name, detail) = try row.decode(String.self, String.self)
                return Breach(name: name, detail: detail)
            }
            return try APIResponse(json: breaches)
        }
    }
}
