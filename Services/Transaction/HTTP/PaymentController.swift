import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// POST /transactions/p2p.
///
/// Order: authenticate, decode, answer a repeated request, check the approval, accept. A request that was answered is
/// answered again even when its approval has expired meanwhile.
struct PaymentController: Sendable {
    let accept: AcceptPayment
    let approvals: ApprovalVerifier

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.post("/transactions/p2p") { try await self.pay($0, $1) }
    }

    private func pay(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let sender = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: P2PRequest.self, context: context)
        let draft = try PaymentDraft(
            recipient: body.recipientUsername,
            amount: body.amount,
            description: body.description
        )
        let scope = try await request.idempotencyScope(context: context)
        let approval: Approval
        do {
            approval = try await self.approvals.verify(request, context: context)
        } catch {
            guard let earlier = try await self.accept.earlierAnswer(scope) else { throw error }
            return Self.response(earlier)
        }
        let answer = try await self.accept(
            AcceptPayment.Request(sender: sender, draft: draft, scope: scope, approval: approval, cause: context.cause)
        )
        return Self.response(answer)
    }

    private static func response(_ answer: AcceptanceAnswer) -> APIResponse {
        APIResponse(
            HTTPResponse.Status(code: answer.status),
            body: Array(answer.body.utf8),
            headers: answer.isReplay ? [.idempotencyReplayed: "true"] : [:]
        )
    }
}
