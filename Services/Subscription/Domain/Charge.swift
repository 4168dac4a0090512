import Contracts
import Foundation
import Primitives

/// The price of one period, to be paid once.
struct Charge: Hashable, Sendable {
    /// How it stands.
    enum State: String, Hashable, Sendable {
        case pending
        case paid
        case refused
    }

    let reference: String
    let user: UserID
    let plan: Plan
    let amount: Money
    /// Of the period; nil when it begins as it is paid.
    let startsAt: Date?

    /// `sub-<user>-<yyyymmdd>`: a person and the day in Lagos on which a period begins.
    static func reference(of user: UserID, _ moment: Date) -> String {
        "sub-\(user.description)-\(LagosCalendar.day(of: moment).compact)"
    }
}

/// A charge as it is stored.
struct StoredCharge: Hashable, Sendable {
    let charge: Charge
    let state: Charge.State
    let attempt: Int
    let reason: String?
    let transaction: UUID?
    let requestedAt: Date
    let decidedAt: Date?

    /// What people are told.
    var resource: SubscriptionCharge {
        SubscriptionCharge(
            status: self.state.rawValue,
            plan: self.charge.plan.name,
            amount: self.charge.amount.kobo,
            reason: self.reason,
            requestedAt: Timestamp.text(self.requestedAt),
            decidedAt: self.decidedAt.map { Timestamp.text($0) },
            transactionID: self.transaction
        )
    }
}
