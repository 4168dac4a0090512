import Contracts
import Foundation
import Primitives

/// What an order would cost and which way it would go, if it were given now.
///
/// A forecast: nothing is reserved.
struct QuoteOrder: Sendable {
    let store: QuoteStore
    let clock: any TimeSource

    /// Fees are dated configuration, and routes depend on what others do meanwhile.
    static let lifetime: TimeInterval = 120

    /// - Throws: `FieldProblem`, `QuoteProblem`.
    func callAsFunction(_ request: QuoteRequest, for user: UserID) async throws -> QuoteResponse {
        guard request.amount > 0 else { throw PaymentProblem.amountNotPositive }
        let quote: QuoteStore.Quote
        let recipient = try request.recipientUsername.map {
            try PaymentDraft(recipient: $0, amount: request.amount, description: nil)
        }
        let type = request.type ?? Order.Kind.payment.rawValue
        switch Order.Kind(rawValue: type) {
        case .payment:
            guard let recipient else {
                throw FieldProblem(pointer: "/recipient_username", detail: "Needed for a payment.")
            }
            guard let found = try await self.store.payment(recipient, from: user) else {
                throw QuoteProblem.noRecipient
            }
            quote = found
        case .withdrawal: quote = try await self.store.fees(of: .withdrawal, route: "external", amount: request.amount)
        case .moneyDrop: quote = try await self.store.fees(of: .moneyDrop, route: "internal", amount: request.amount)
        case nil: throw FieldProblem(pointer: "/type", detail: "p2p, self_transfer or money_drop.")
        }
        let (total, isTooLarge) = request.amount.addingReportingOverflow(quote.fee + quote.duty)
        guard !isTooLarge else { throw FieldProblem(pointer: "/amount", detail: "The amount is too large.") }
        return QuoteResponse(
            type: type,
            route: quote.route,
            amount: request.amount,
            fee: quote.fee,
            duty: quote.duty,
            total: total,
            expiresAt: Timestamp.text(self.clock.now.addingTimeInterval(Self.lifetime))
        )
    }
}

/// Why there is no quote.
enum QuoteProblem: Error, CaseIterable {
    /// Nobody has that name, or it is the reader's own.
    case noRecipient
}
