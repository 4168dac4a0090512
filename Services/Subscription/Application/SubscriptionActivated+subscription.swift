import Contracts
import Primitives

extension SubscriptionActivated {
    /// What others hear of a plan that runs; nil on the free plan.
    init?(_ subscription: Subscription, of user: UserID) {
        guard let end = subscription.activeUntil else { return nil }
        self.init(
            userID: user.uuid,
            plan: subscription.plan.name,
            activeUntil: Timestamp.text(end),
            graceUntil: subscription.graceUntil.map { Timestamp.text($0) }
        )
    }
}

extension SubscriptionRenewed {
    /// What others hear of a plan whose next period is paid; nil on the free plan.
    init?(_ subscription: Subscription, of user: UserID) {
        guard let end = subscription.activeUntil else { return nil }
        self.init(
            userID: user.uuid,
            plan: subscription.plan.name,
            activeUntil: Timestamp.text(end),
            graceUntil: subscription.graceUntil.map { Timestamp.text($0) }
        )
    }
}

extension SubscriptionCancelled {
    /// What others hear of a plan that ends with what is paid; nil on the free plan.
    init?(_ subscription: Subscription, of user: UserID) {
        guard let end = subscription.activeUntil else { return nil }
        self.init(userID: user.uuid, plan: subscription.plan.name, activeUntil: Timestamp.text(end))
    }
}
