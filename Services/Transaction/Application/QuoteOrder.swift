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

    /// `id` names the quote in the order that it is for.
    ///
    /// - Throws: `FieldProblem`, `QuoteProblem`, `OrderRefusal.amountBelowMinimum`.
    func callAsFunction(
        _ request: QuoteRequest,
        for user: UserID,
        id: (QuoteTerms, (type: String, recipient: String?, amount: Int64)) throws -> String
    ) async throws -> QuoteResponse {
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
        let bank =
            quote.route == "external"
            ? try await self.store.bank(aheadOf: recipient?.recipient, or: request.beneficiaryID, for: user) : nil
        let expiresAt = self.clock.now.addingTimeInterval(Self.lifetime)
        if case .withdrawal = Order.Kind(rawValue: type), recipient == nil, request.beneficiaryID != nil, bank == nil {
            throw QuoteProblem.noBeneficiary
        }
        let payee = type == Order.Kind.payment.rawValue ? recipient?.recipient : nil
        let order = (type: type, recipient: payee, amount: request.amount)
        return QuoteResponse(
            quoteID: try id(QuoteTerms(cost: quote.fee + quote.duty, expiresAt: expiresAt), order),
            type: type,
            route: quote.route,
            amount: request.amount,
            fee: quote.fee,
            duty: quote.duty,
            total: total,
            bankStatus: bank,
            expiresAt: Timestamp.text(expiresAt)
        )
    }
}

/// Why there is no quote.
enum QuoteProblem: Error, CaseIterable {
    /// Nobody has that name, or it is the reader's own.
    case noRecipient
    /// The reader has no such bank account.
    case noBeneficiary
}
