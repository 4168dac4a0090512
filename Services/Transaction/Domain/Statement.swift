import Foundation
import Primitives

/// Begin and end of a statement: two instants of the ledger, named by the entries before them.
struct Statement: Hashable, Sendable {
    let account: Int64
    /// The number of the last entry before the period; 0: there is none.
    let before: Int64
    /// The number of the last entry of the period, or before it.
    let last: Int64
    let opening: Money
    let closing: Money

    /// How many lines it has.
    var count: Int { Int(self.last - self.before) }
}

/// One entry of the wallet.
struct StatementLine: Hashable, Sendable {
    let sequence: Int64
    let postedAt: Date
    /// What the ledger calls this part of the transfer.
    let leg: String
    /// What kind of transfer.
    let type: String
    /// The other party, for payments between users.
    let counterparty: UUID?
    let reference: String
    let transfer: UUID
    /// Below zero: went out.
    let amount: Money
    let balance: Money

    /// What people read.
    ///
    /// Without what the payer wrote: that stays sealed.
    func text(counterparty name: String?) -> String {
        switch self.leg {
        case "fee": "Fee"
        case "duty": "Stamp duty"
        case "reversal": "Returned: \(self.movement(name, isOut: self.amount.isPositive))"
        case "reversed_fee": "Fee returned"
        case "reversed_duty": "Stamp duty returned"
        case "receivable": "Owed: it was spent before it was returned"
        case "collected": "Paid towards what was owed"
        case "given_back":
            self.amount.isNegative ? "Taken back: it came back twice" : "Returned: it was taken back before"
        default: self.movement(name, isOut: self.amount.isNegative)
        }
    }

    private func movement(_ name: String?, isOut: Bool) -> String {
        switch self.type {
        case "p2p": (isOut ? "To " : "From ") + (name ?? "a former user")
        case "self_transfer": "Withdrawal to bank"
        case "money_drop": "Money drop"
        case "drop_claim": "Money drop claimed"
        case "drop_refund": "Money drop returned"
        case "subscription_charge": "Subscription"
        case "inbound": isOut ? "Moved out of the closed wallet" : "Bank transfer received"
        case "release": "Payment returned"
        default: isOut ? "Money out" : "Money in"
        }
    }
}

/// Why there is no statement.
enum StatementProblem: Error, Hashable, Sendable {
    /// Too many lines for a PDF.
    case tooLong
}
