import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The user's own plan.
struct StatusController: Sendable {
    let database: EventDatabase
    let clock: any TimeSource
    let subscriptions: SubscriptionStore

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/subscriptions/status") { try await self.status($0, $1) }
    }

    private func status(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let now = self.clock.now
        let found = try await self.subscriptions.find(
            user,
            in: UsageMonth(at: now),
            as: user,
            on: self.database
        )
        return try APIResponse(json: found.status(at: now))
    }
}
