import Foundation
import Primitives

/// A person's plan as it is stored: what is paid, and what is to come.
struct Subscription: Hashable, Sendable {
    var plan = Plan.free
    /// The end of what is paid; nil on the free plan.
    var activeUntil: Date?
    /// Counts as active until then while it is to be renewed.
    var graceUntil: Date?
    /// What anniversaries are counted from; nil: given by an operator.
    var anchor: Date?
    /// The plan of the next period; nil: there is none.
    var renewsAs: Plan?
    /// When the next charge is to be asked for.
    var nextChargeAt: Date?
    /// The reference of the charge that `transaction` has not answered.
    var pendingCharge: String?

    /// Whether a paid plan runs at that moment; it may have ended before the row says so.
    func isActive(at moment: Date) -> Bool {
        guard let end = self.graceUntil ?? self.activeUntil, self.plan != .free else { return false }
        return moment < end
    }

    /// Whether the plan runs at that moment although its next period is not paid.
    func isInGrace(at moment: Date) -> Bool {
        guard let paid = self.activeUntil else { return false }
        return self.isActive(at: moment) && paid <= moment
    }
}
