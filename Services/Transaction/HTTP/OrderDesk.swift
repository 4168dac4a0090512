import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// Takes orders: whatever sends money out of a person's wallet comes through here.
///
/// The caller has decoded the body. Then the one of equal requests who holds the lease checks the approval and places the
/// order; its row of the ledger is what a repetition is answered from, also when its approval has expired meanwhile. One that
/// was refused for something that may be otherwise by now is decided anew under another approval.
struct OrderDesk: Sendable {
    let place: PlaceOrder
    let approvals: ApprovalVerifier
    let executor: IdempotentExecutor

    /// What is ordered, in two steps.
    struct Wanted<Found> {
        /// Comes before the approval is checked: whoever may not see a thing is told that it is not there.
        let look: () async throws -> Found
        /// Puts the order together once the approval is good.
        let make: (Found) async throws -> Order

        init(looking look: @escaping () async throws -> Found, making make: @escaping (Found) async throws -> Order) {
            self.look = look
            self.make = make
        }
    }

    /// Places the order.
    ///
    /// With the id of a quote it keeps to what that said. `identifying` is what makes two requests the same, when that is
    /// not the whole body, and `formerly` the same under keys that are being replaced.
    func take<Found>(
        _ request: Request,
        _ context: AppRequestContext,
        quote: String? = nil,
        identifying: [UInt8]? = nil,
        formerly: [[UInt8]] = [],
        _ wanted: Wanted<Found>
    ) async throws -> APIResponse {
        try QuoteID.checkForm(quote)
        let scope = try await request.idempotencyScope(
            context: context,
            identifying: identifying,
            formerly: formerly
        )
        return try await self.executor.run(scope) {
            try await self.answer(to: request, context, scope, quote, wanted).finish()
        }
    }

    private func answer<Found>(
        to request: Request,
        _ context: AppRequestContext,
        _ scope: IdempotencyScope,
        _ quote: String?,
        _ wanted: Wanted<Found>
    ) async throws -> OrderAnswer {
        var scope = scope
        var approval: Approval?
        do {
            let found = try await wanted.look()
            let good = try await self.approvals.verify(request, context: context)
            approval = good
            // The database knows one hash of a request.
            if !scope.former.isEmpty, let earlier = try await self.place.earlier(scope) {
                if earlier.stands(under: good.nonce) { return earlier.answer }
                scope = scope.known(by: earlier.hash)
            }
            let order = try await wanted.make(found)
            let terms = try quote.map { try QuoteID.terms(in: $0, for: order, context) }
            return try await self.place(
                PlaceOrder.Request(
                    sender: scope.user,
                    order: order,
                    scope: scope,
                    approval: good,
                    cause: context.cause,
                    quote: terms
                )
            )
        } catch {
            // Whatever fails by now: what was answered once is answered.
            guard let earlier = try await self.place.earlier(scope),
                approval.map({ earlier.stands(under: $0.nonce) }) ?? true
            else { throw error }
            return earlier.answer
        }
    }
}

extension OrderAnswer {
    /// How the work under the key has ended.
    ///
    /// Redis copies what was accepted: a refusal may be another one under another approval.
    fileprivate func finish() throws -> Finish {
        let response = try self.response()
        var isKept = false
        if case .accepted = self.outcome { isKept = true }
        return self.isRepeated ? .repeated(response, isKept: isKept) : .first(response, isKept: isKept)
    }
}

extension OrderDesk.Wanted where Found == Void {
    /// An order that needs nothing more.
    init(_ order: Order) { self.init(looking: {}, making: { order }) }
}

extension IdempotencyScope {
    /// The same with the hash that the request had when it was refused.
    fileprivate func known(by hash: [UInt8]) -> IdempotencyScope {
        IdempotencyScope(
            user: self.user,
            route: self.route,
            key: self.key,
            fingerprint: RequestFingerprint(bytes: hash)
        )
    }
}

extension APIError {
    /// 503: the ledger was restored, and nothing is decided before it agrees with the provider.
    static var recovering: APIError { .unavailable("recovering", retryAfter: 60) }
}
