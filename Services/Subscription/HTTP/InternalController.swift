import Foundation
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// What other services and operators may ask on the internal port.
struct InternalController: Sendable {
    let database: EventDatabase
    let clock: any TimeSource
    let subscriptions: SubscriptionStore
    let adjustUsage: AdjustUsage
    let givePlan: GivePlan

    /// Adds the routes under `/internal`.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/subscriptions/status") { try await self.status($0, $1) }
        group.post("/subscriptions/increment-usage") { try await self.increment($0, $1) }
        group.post("/subscriptions/activate") { try await self.activate($0, $1) }
    }

    private func status(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        guard let user = request.uri.queryParameters.get("user_id").flatMap({ UserID(text: $0) }) else {
            throw APIError.invalid(parameter: "user_id", detail: "A user id is a UUID.")
        }
        return try await self.answer(user)
    }

    private func increment(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: AdjustmentBody.self, context: context)
        // Without an id of the caller's own the request's is taken, which a repeated call cannot share.
        let adjustment = try Adjustment(
            id: body.adjustmentID ?? context.requestID,
            user: body.userID,
            delta: body.delta ?? 1,
            now: self.clock.now
        )
        let order = try OperatorOrder(request, context, reason: body.reason)
        let announced = try await self.database.transaction(cause: context.cause) { transaction in
            try await self.adjustUsage(adjustment, by: order, in: transaction)
        }
        return try APIResponse(.accepted, json: AdjustmentResource(announced))
    }

    private func activate(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: ActivationBody.self, context: context)
        let gift = try PlanGift(plan: body.plan, until: body.until, now: self.clock.now)
        let order = try OperatorOrder(request, context, reason: body.reason)
        try await self.database.transaction(cause: context.cause) { transaction in
            try await self.givePlan(gift, to: body.userID, by: order, in: transaction)
        }
        return try await self.answer(body.userID)
    }

    private func answer(_ user: UserID) async throws -> APIResponse {
        let now = self.clock.now
        let found = try await self.subscriptions.view(user, in: UsageMonth(at: now), as: nil, on: self.database)
        return try APIResponse(json: found.status(at: now))
    }
}
