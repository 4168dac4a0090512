import Foundation
import Primitives

/// A payment on an account that belongs to nobody we know.
struct UnmatchedPayment: Hashable, Sendable {
    /// The provider's id: booked once.
    let providerPaymentID: String
    /// The account it arrived on.
    let anchorAccountID: String
    let amount: Money
    /// The provider's own reference, which all its names for the same money share.
    let providerReference: String?
    let paidAt: Date
}
