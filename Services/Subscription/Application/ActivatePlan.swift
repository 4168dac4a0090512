import Contracts
import Foundation
import Messaging
import Primitives

/// Gives a user a plan.
struct ActivatePlan: Sendable {
    let subscriptions: SubscriptionStore

    /// Activates it; the same order once more changes nothing and is not announced again.
    func callAsFunction(_ order: PlanOrder, user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.subscriptions.activate(order, of: user, in: transaction) else { return }
        try await transaction.publish(
            SubscriptionActivated(
                userID: user.uuid,
                plan: order.plan.name,
                activeUntil: Timestamp.text(order.until)
            ),
            about: user
        )
    }
}
