import Contracts
import Foundation
import Messaging
import Primitives

/// Gives a user a plan that nobody pays.
struct GivePlan: Sendable {
    let subscriptions: SubscriptionStore

    /// Gives it; the same order once more changes nothing and is not announced again.
    func callAsFunction(_ gift: PlanGift, to user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.subscriptions.give(gift, to: user, in: transaction) else { return }
        try await transaction.publish(
            SubscriptionActivated(
                userID: user.uuid,
                plan: gift.plan.name,
                activeUntil: Timestamp.text(gift.until)
            ),
            about: user
        )
    }
}
