import Primitives
import ServiceKit

/// The id of a quote: the quote itself, with a hash that binds it to the person and to what was to be ordered.
///
/// Nothing is stored for a quote; whoever asks for many costs nothing.
enum QuoteID {
    static func text(
        of terms: QuoteTerms,
        for order: (type: String, recipient: String?, amount: Int64),
        _ context: AppRequestContext
    ) throws -> String {
        try context.text(ofNote: terms.bytes, for: Self.purpose(order))
    }

    /// - Throws: 400 for what cannot be an id, before anything else is looked at.
    static func checkForm(_ text: String?) throws(FieldProblem) {
        guard let text else { return }
        let isID = text.utf8.count == Self.length && Base64URL.decode(text) != nil
        guard isID else { throw Self.notOurs }
    }

    /// What the quote said, for an order like the one it was asked for.
    ///
    /// - Throws: 400 `invalid_value` when it is none of ours, somebody else's, or was asked for another order.
    static func terms(in text: String, for order: Order, _ context: AppRequestContext) throws -> QuoteTerms {
        let purpose = Self.purpose((order.type.rawValue, order.recipient, order.amount.kobo))
        guard let bytes = try context.note(in: text, for: purpose), let terms = QuoteTerms(bytes: bytes) else {
            throw Self.notOurs
        }
        return terms
    }

    /// 16 bytes and the hash, in Base64.
    private static let length = 32
    private static let notOurs = FieldProblem(
        pointer: "/quote_id",
        detail: "It is not the id of a quote for this order."
    )

    private static func purpose(_ order: (type: String, recipient: String?, amount: Int64)) -> String {
        "quote \(order.type) \(order.recipient ?? "-") \(order.amount)"
    }
}
