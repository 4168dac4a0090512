import Hummingbird
import ServiceKit

/// GET /internal/banks: how the banks are doing.
struct BankHealthController: Sendable {
    let store: BankHealthStore

    /// Adds the route.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/banks") { _, _ in try APIResponse(json: try await self.store.all()) }
    }
}
