import Hummingbird
import ServiceKit

/// GET /internal/invariants: what in the books does not hold; an empty list when all does.
struct InvariantsController: Sendable {
    let store: InvariantStore

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/invariants") { _, _ in try APIResponse(json: try await self.store.breaches()) }
    }
}
