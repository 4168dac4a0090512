import Foundation
import Primitives

/// What a person may order, and so must approve: money that leaves their wallet.
enum Order: Sendable {
    /// To a user, with the payment request that it pays if there is one.
    case payment(PaymentDraft, request: UUID?)
    /// To a bank account of their own.
    case withdrawal(to: UUID, amount: Money)
    /// Into the pool of a new money drop.
    case moneyDrop(NewMoneyDrop)

    /// The ledger's word for it.
    enum Kind: String, Sendable {
        case payment = "p2p"
        case withdrawal = "self_transfer"
        case moneyDrop = "money_drop"
    }

    /// What a person wrote, and the name under which it is sealed.
    struct Text: Sendable {
        let content: String
        let field: String
    }

    var type: Kind {
        switch self {
        case .payment: .payment
        case .withdrawal: .withdrawal
        case .moneyDrop: .moneyDrop
        }
    }

    var recipient: String? {
        guard case .payment(let draft, _) = self else { return nil }
        return draft.recipient
    }

    var amount: Money {
        switch self {
        case .payment(let draft, _): draft.amount
        case .withdrawal(_, let amount): amount
        case .moneyDrop(let drop): drop.draft.total
        }
    }

    /// The row it is aimed at: payment request, beneficiary or the drop to be.
    var target: UUID? {
        switch self {
        case .payment(_, let request): request
        case .withdrawal(let beneficiary, _): beneficiary
        case .moneyDrop(let drop): drop.id
        }
    }

    var text: Text? {
        switch self {
        case .payment(let draft, _): draft.description.map { Text(content: $0, field: SealedText.description) }
        case .withdrawal: nil
        case .moneyDrop(let drop): drop.draft.title.map { Text(content: $0, field: SealedText.dropTitle) }
        }
    }

    /// What else the ledger has to know, as JSON: all of a drop, and what the quote said.
    func details(quote: QuoteTerms?) throws -> String? {
        if case .moneyDrop(let drop) = self { return try drop.details(quote: quote) }
        return try quote.map { try OrderDetails.text(["quote": $0]) }
    }
}

/// Details of orders as `order_facts()` reads them.
///
/// An order without them would be another one: it may cost what it likes.
enum OrderDetails {
    static func text(_ details: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return String(decoding: try encoder.encode(details), as: UTF8.self)
    }
}

/// The names under which what people write is sealed.
enum SealedText {
    static let description = "description"
    static let dropTitle = "drop_title"
    static let requestDescription = "request_description"
    static let dispute = "dispute"
    static let disputeAnswer = "dispute_answer"
}
