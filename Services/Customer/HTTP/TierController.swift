import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// The tier of users, on the internal port: operators change it, and what they did stays.
///
/// The header `Transfa-Operator` names who acts.
struct TierController: Sendable {
    let database: EventDatabase
    let tiers: TierStore
    let changeTier: ChangeTier

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.put("/users/:user_id/tier") { try await self.put($0, $1) }
        group.get("/users/:user_id/tier-changes") { try await self.list($0, $1) }
    }

    private struct Order: Decodable {
        let tier: Int
        let reason: String
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let body = try await request.decodeBody(as: Order.self, context: context)
        let order = try TierOrder(tier: body.tier, reason: body.reason)
        let audited = try OperatorOrder(request, context, reason: order.reason)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.changeTier(order, user: user, by: audited, in: transaction)
        }
        return .noContent
    }

    private func list(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = UserID(try context.uuid("user_id"))
        let changes = try await self.tiers.changes(of: user, on: self.database)
        return try APIResponse(json: TierChanges(data: changes.map { .init($0) }))
    }
}

/// GET /internal/users/{user_id}/tier-changes.
struct TierChanges: Encodable {
    struct Entry: Encodable {
        let changedAt: String
        let before: Int
        let after: Int
        let reason: String
        let operatorName: String

        init(_ change: TierChange) {
            self.changedAt = Timestamp.text(change.at)
            self.before = change.before
            self.after = change.after
            self.reason = change.reason
            self.operatorName = change.operatorName
        }

        private enum CodingKeys: String, CodingKey {
            case changedAt = "changed_at"
            case before
            case after
            case reason
            case operatorName = "operator"
        }
    }

    let data: [Entry]
}
