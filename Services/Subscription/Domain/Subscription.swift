import Contracts
import Foundation
import Primitives

/// What a user has and has used of it in one month.
struct Subscription: Hashable, Sendable {
    /// External transfers a month that somebody on the free plan may receive; `transaction` enforces it.
    static let freeTransfers = 5

    let plan: Plan
    /// Nil on the free plan.
    let activeUntil: Date?
    let month: UsageMonth
    /// As `transaction` counts it.
    let used: Int

    /// What somebody has of whom nothing is known yet.
    static func free(in month: UsageMonth) -> Subscription {
        Subscription(plan: .free, activeUntil: nil, month: month, used: 0)
    }

    /// Whether a paid plan runs at that moment; it may have ended before the row says so.
    func isActive(at moment: Date) -> Bool {
        guard let activeUntil = self.activeUntil, self.plan != .free else { return false }
        return moment < activeUntil
    }

    /// What people are told.
    func status(at moment: Date) -> SubscriptionStatus {
        let isActive = self.isActive(at: moment)
        return SubscriptionStatus(
            status: isActive ? "active" : "free",
            plan: isActive ? self.plan.name : Plan.free.name,
            activeUntil: isActive ? self.activeUntil.map { Timestamp.text($0) } : nil,
            month: self.month.firstDay.description,
            externalTransfersUsed: max(0, self.used),
            externalTransfersLimit: isActive ? nil : Self.freeTransfers
        )
    }
}
