import Contracts
import HTTPTypes
import Hummingbird
import Messaging
import Primitives
import ServiceKit

/// Plans, and the user's own.
struct SubscriptionController: Sendable {
    let database: EventDatabase
    let clock: any TimeSource
    let approvals: ApprovalVerifier
    let executor: IdempotentExecutor
    let prices: PriceList
    let subscriptions: SubscriptionStore
    let nonces: ApprovalStore
    let subscribe: Subscribe
    let unsubscribe: Unsubscribe

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/subscriptions/plans") { _, _ in try self.plans() }
        group.polled("/subscriptions/status") { try await self.status($0, $1) }
        group.limited(.money).post("/subscriptions") { try await self.post($0, $1) }
        group.delete("/subscriptions") { try await self.delete($0, $1) }
    }

    private func plans() throws -> APIResponse {
        let free = PlanResource(
            plan: Plan.free.name,
            price: 0,
            externalTransfersLimit: PlanAllowance.freeExternalTransfers,
            beneficiaryLimit: PlanAllowance.freeBeneficiaries
        )
        let sold = self.prices.sold(at: self.clock.now).map { plan, price in
            PlanResource(plan: plan.name, price: price.kobo, beneficiaryLimit: PlanAllowance.paidBeneficiaries)
        }
        return try APIResponse(json: PlanList(data: [free] + sold))
    }

    private func status(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let now = self.clock.now
        let found = try await self.subscriptions.view(user, in: UsageMonth(at: now), as: user, on: self.database)
        return try APIResponse(json: found.status(at: now))
    }

    private func post(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: SubscriptionRequest.self, context: context)
        let order = try PlanRequest(checking: body)
        let scope = try await request.idempotencyScope(context: context)
        let change = Change(
            preparing: { _ in try await self.approvals.verify(request, context: context) },
            then: { transaction, approval in
                guard try await self.nonces.spend(approval.nonce, of: user, in: transaction) else {
                    throw SubscriptionError.approvalUsed
                }
                do {
                    let isCharged = try await self.subscribe(order, user: user, in: transaction)
                    return try await self.answer(isCharged ? .accepted : .ok, user, transaction)
                } catch let error as SubscriptionError where error.apiError.status == .unprocessableContent {
                    // Returned and not thrown: what is refused uses the approval up too.
                    let refusal = error.apiError
                    return APIResponse(refusal.status, body: refusal.body(requestID: context.requestIDText))
                }
            }
        )
        return try await self.executor.run(scope, in: self.database, context: context, change)
    }

    private func delete(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        return try await ChangeOnce(executor: self.executor, database: self.database)(request, context) { transaction in
            try await self.unsubscribe(user, in: transaction)
            return try await self.answer(.ok, user, transaction)
        }
    }

    private func answer(
        _ status: HTTPResponse.Status,
        _ user: UserID,
        _ transaction: EventTransaction
    ) async throws -> APIResponse {
        let now = transaction.now
        let view = try await self.subscriptions.view(user, in: UsageMonth(at: now), transaction)
        let json = view.status(at: now)
        guard status == .accepted else { return try APIResponse(status, json: json) }
        return try .accepted(location: "/subscriptions/status", json: json)
    }
}
