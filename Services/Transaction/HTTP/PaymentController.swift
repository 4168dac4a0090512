import Contracts
import Foundation
import Hummingbird
import Primitives
import ServiceKit

/// POST /transactions/p2p, POST /transactions/self-transfer and POST /transactions/quote.
struct PaymentController: Sendable {
    let orders: OrderDesk
    let quote: QuoteOrder

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        let money = group.limited(.money)
        money.post("/transactions/p2p") { try await self.pay($0, $1) }
        money.post("/transactions/self-transfer") { try await self.withdraw($0, $1) }
        group.limited(.lookups).post("/transactions/quote") { try await self.ask($0, $1) }
    }

    private func pay(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: P2PRequest.self, context: context)
        let draft = try PaymentDraft(
            recipient: body.recipientUsername,
            amount: body.amount,
            description: body.description
        )
        let order = Order.payment(draft, request: body.paymentRequestID)
        return try await self.orders.take(request, context, quote: body.quoteID, OrderDesk.Wanted(order))
    }

    private func withdraw(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let body = try await request.decodeBody(as: SelfTransferRequest.self, context: context)
        guard body.amount > 0 else { throw PaymentProblem.amountNotPositive }
        let order = Order.withdrawal(to: body.beneficiaryID, amount: Money(kobo: body.amount))
        return try await self.orders.take(request, context, quote: body.quoteID, OrderDesk.Wanted(order))
    }

    private func ask(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        let body = try await request.decodeBody(as: QuoteRequest.self, context: context)
        let quote = try await self.quote(body, for: user) { try QuoteID.text(of: $0, for: $1, context) }
        return try APIResponse(json: quote)
    }
}
