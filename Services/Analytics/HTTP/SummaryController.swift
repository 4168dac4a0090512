import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Money in against money out.
struct SummaryController: Sendable {
    let database: EventDatabase
    let clock: any TimeSource
    let totals: DailyTotalStore

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/analytics/summary") { try await self.summary($0, $1) }
    }

    private func summary(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let query = request.uri.queryParameters
        let period = try Period(
            from: query.get("from"),
            to: query.get("to"),
            now: self.clock.now
        )
        let totals = try await self.totals.sum(period, of: user, on: self.database)
        return try APIResponse(json: totals.summary(of: period))
    }
}
