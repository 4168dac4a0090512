import Hummingbird
import Postgres
import Primitives

/// `GET /internal/users/{user_id}/export`: what the service holds about a person, page by page.
///
/// A token of its own opens it: whoever has it reads everything about everybody.
struct ExportRoutes: Sendable {
    let exports: Exports
    let client: PostgresClient
    let keys: (any DataKeys)?

    /// Adds the route under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/users/:user_id/export") { request, context in
            let person = UserID(try context.uuid("user_id"))
            let cursor = request.uri.queryParameters.get("cursor")
            return try APIResponse(
                json: try await self.exports.page(of: person, from: cursor, on: self.client, keys: self.keys)
            )
        }
    }
}
