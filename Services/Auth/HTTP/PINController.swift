import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// PIN and approvals.
///
/// What is slow, which is hashing, comes before the transaction. What is kept of a request is a keyed hash, which
/// cannot be searched for the PIN; what is kept of an approval is sealed.
struct PINController: Sendable {
    let once: ChangeOnce
    let setPIN: SetPIN
    let resetPIN: ResetPIN
    let checkPIN: CheckPIN
    let issueApproval: IssueApproval

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let secrets = group.limited(.secrets)
        secrets.put("/pin") { try await self.put($0, $1) }
        secrets.post("/pin/reset") { try await self.reset($0, $1) }
        secrets.post("/approvals") { try await self.postApproval($0, $1) }
    }

    private func put(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let user = identity.userID
        let body = try await request.decodeBody(as: PINRequest.self, context: context)
        let pin = try PIN(chosen: body.pin, pointer: "/pin")
        let current = try body.currentPin.map { try PIN($0, pointer: "/current_pin") }
        let cause = context.cause
        let change = Change(
            preparing: {
                try await self.setPIN.prepare(
                    pin,
                    current: current,
                    of: user,
                    provenAt: identity.provenAt,
                    under: $0,
                    cause: cause
                )
            },
            then: { transaction, prepared in
                try await self.setPIN(prepared, of: user, in: transaction)
                return .noContent
            }
        )
        return try await self.checkPIN.guarding(user, cause: cause) {
            try await self.once(request, context, change)
        }
    }

    private func reset(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let user = identity.userID
        let body = try await request.decodeBody(as: PINResetRequest.self, context: context)
        let pin = try PIN(chosen: body.pin, pointer: "/pin")
        let change = Change(
            preparing: { _ in try await self.resetPIN.prepare(pin, of: user, provenAt: identity.provenAt) },
            then: { transaction, hash in
                try await self.resetPIN(hash, of: user, in: transaction)
                return .noContent
            }
        )
        return try await self.once(request, context, change)
    }

    private func postApproval(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let identity = try context.requireIdentity()
        let user = identity.userID
        let body = try await request.decodeBody(as: ApprovalRequest.self, context: context)
        let pin = try PIN(body.pin, pointer: "/pin")
        let scope = try ApprovalScope(checking: body)
        let cause = context.cause
        let change = Change(
            preparing: { try await self.checkPIN(pin, of: user, under: $0, cause: cause) },
            then: { transaction, hash in
                let approval = try await self.issueApproval(
                    scope,
                    hash,
                    user: user,
                    session: identity.sessionID,
                    in: transaction
                )
                return try APIResponse(.created, json: approval)
            },
            finishing: { try await self.opened($0, of: user) }
        )
        return try await self.checkPIN.guarding(user, cause: cause) {
            try await self.once(request, context, change)
        }
    }

    /// An answer that was kept with the token sealed, as the user gets it.
    private func opened(_ answer: APIResponse, of user: UserID) async throws -> APIResponse {
        guard answer.status == .created else { return answer }
        let kept = try JSONDecoder().decode(ApprovalResponse.self, from: Data(answer.body))
        let approval = try await self.issueApproval.opened(kept, of: user)
        return try APIResponse(answer.status, json: approval, headers: answer.headers)
    }
}
