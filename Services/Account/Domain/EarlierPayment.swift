import AnchorClient
import Primitives

/// What a payment that was written down before is to one that comes now.
enum EarlierPayment: Hashable, Sendable {
    /// This payment, or the provider's other name for the same money.
    case sameMoney
    /// Two ids of one kind are two payments, whatever their references, and so are two amounts.
    case another

    /// Compares a payment with one that has its id or, on the same account, its reference.
    init(of payment: InboundPayment, id: String, amount: Int64) {
        let isOtherName = Credit.kind(of: id) != Credit.kind(of: payment.id) && amount == payment.amount.kobo
        self = id == payment.id || isOtherName ? .sameMoney : .another
    }
}
