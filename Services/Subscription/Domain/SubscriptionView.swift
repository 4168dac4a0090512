import Contracts
import Foundation
import Primitives

/// What a person has, what of it is used in one month, and how the latest charge stands.
struct SubscriptionView: Hashable, Sendable {
    var subscription = Subscription()
    let month: UsageMonth
    /// As `transaction` counts it.
    var used = 0
    var lastCharge: StoredCharge?

    /// What people are told.
    func status(at moment: Date) -> SubscriptionStatus {
        let known = self.subscription
        let isActive = known.isActive(at: moment)
        return SubscriptionStatus(
            status: self.word(at: moment),
            plan: isActive ? known.plan.name : Plan.free.name,
            activeUntil: isActive ? known.activeUntil.map { Timestamp.text($0) } : nil,
            graceUntil: isActive ? known.graceUntil.map { Timestamp.text($0) } : nil,
            renewsAs: isActive ? known.renewsAs?.name : nil,
            month: self.month.firstDay.description,
            externalTransfersUsed: max(0, self.used),
            externalTransfersLimit: isActive ? nil : PlanAllowance.freeExternalTransfers,
            lastCharge: self.lastCharge?.resource
        )
    }

    private func word(at moment: Date) -> String {
        if self.subscription.isInGrace(at: moment) { return "grace" }
        if self.subscription.isActive(at: moment) { return "active" }
        return self.subscription.pendingCharge == nil ? "free" : "pending"
    }
}
