import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Takes orders: whatever sends money out of a person's wallet comes through here.
///
/// The caller has decoded the body. Then: answer a repeated request, check the approval, place the order. A request that was
/// answered is answered again even when its approval has expired meanwhile.
struct OrderDesk: Sendable {
    let place: PlaceOrder
    let approvals: ApprovalVerifier

    /// Places the order that `make` puts together once the approval is good.
    ///
    /// With the id of a quote it keeps to what that said. `identifying` is what makes two requests the same, when that is
    /// not the whole body, and `formerly` the same under keys that are being replaced.
    func take(
        _ request: Request,
        _ context: AppRequestContext,
        quote: String? = nil,
        identifying: [UInt8]? = nil,
        formerly: [[UInt8]] = [],
        _ make: () async throws -> Order
    ) async throws -> APIResponse {
        try QuoteID.checkForm(quote)
        let sender = try context.requireIdentity().userID
        let scope = try await request.idempotencyScope(
            context: context,
            identifying: identifying,
            formerly: formerly
        )
        // The database knows one hash of a request.
        if !scope.former.isEmpty, let earlier = try await self.place.earlierAnswer(scope) {
            return try earlier.response()
        }
        let approval: Approval
        do {
            approval = try await self.approvals.verify(request, context: context)
        } catch {
            guard let earlier = try await self.place.earlierAnswer(scope) else { throw error }
            return try earlier.response()
        }
        let order = try await make()
        let answer = try await self.place(
            PlaceOrder.Request(
                sender: sender,
                order: order,
                scope: scope,
                approval: approval,
                cause: context.cause,
                quote: try quote.map { try QuoteID.terms(in: $0, for: order, context) }
            )
        )
        return try answer.response()
    }
}

extension APIError {
    /// 503: the ledger was restored, and nothing is decided before it agrees with the provider.
    static var recovering: APIError { .unavailable("recovering", retryAfter: 60) }
}
