import Contracts
import Hummingbird
import ServiceKit

/// PIN and approvals.
///
/// No idempotency rows here: a hash of such a body could be searched for the PIN. Setting the PIN needs none, and two
/// approvals of one request are harmless, for the request itself has its key.
struct PINController: Sendable {
    let setPIN: SetPIN
    let resetPIN: ResetPIN
    let issueApproval: IssueApproval

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let secrets = group.limited(.secrets)
        secrets.put("/pin") { try await self.put($0, $1) }
        secrets.post("/pin/reset") { try await self.reset($0, $1) }
        secrets.post("/approvals") { try await self.postApproval($0, $1) }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: PINRequest.self, context: context)
        let pin = try PIN(chosen: body.pin, pointer: "/pin")
        let current = try body.currentPin.map { try PIN($0, pointer: "/current_pin") }
        try await self.setPIN(pin, current: current, of: user, cause: context.cause)
        return .noContent
    }

    private func reset(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let body = try await request.decodeBody(as: PINResetRequest.self, context: context)
        let pin = try PIN(chosen: body.pin, pointer: "/pin")
        try await self.resetPIN(pin, of: identity.userID, provenAt: identity.provenAt, cause: context.cause)
        return .noContent
    }

    private func postApproval(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: ApprovalRequest.self, context: context)
        let pin = try PIN(body.pin, pointer: "/pin")
        let scope = try ApprovalScope(checking: body)
        let approval = try await self.issueApproval(scope, pin: pin, user: user, cause: context.cause)
        return try APIResponse(.created, json: approval)
    }
}
