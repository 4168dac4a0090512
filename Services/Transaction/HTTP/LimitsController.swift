import Contracts
import Hummingbird
import ServiceKit

/// GET and PUT /limits.
struct LimitsController: Sendable {
    let store: LimitStore
    let approvals: ApprovalVerifier
    let once: ChangeOnce

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.get("/limits") { try await self.get($0, $1) }
        group.put("/limits") { try await self.put($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let limits = try await self.store.limits(of: user) else { throw APIError.notOnboarded }
        return try APIResponse(json: limits)
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let limits = try await request.decodeBody(as: OwnLimits.self, context: context)
        try Self.check(limits)
        let change = Change(
            preparing: { _ in try await self.approvals.verify(request, context: context) },
            then: { transaction, approval in
                try await self.store.set(limits, of: user, nonce: approval.nonce, in: transaction)
                return try APIResponse(json: limits)
            }
        )
        return try await self.once(request, context, change)
    }

    private static func check(_ limits: OwnLimits) throws(FieldProblem) {
        let fields = [
            ("/per_transfer", limits.perTransfer), ("/per_day", limits.perDay), ("/per_month", limits.perMonth),
        ]
        for (pointer, limit) in fields {
            guard let limit, limit < 0 else { continue }
            throw FieldProblem(pointer: pointer, detail: "Kobo, zero or more.")
        }
    }
}

extension LimitProblem: APIErrorConvertible {
    /// 403 or 409, not stored.
    var apiError: APIError {
        switch self {
        case .senderUnknown: .notOnboarded
        case .approvalUsed: .forbidden("approval_used", detail: "This approval was already used. Approve again.")
        }
    }
}
