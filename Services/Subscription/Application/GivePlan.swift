import Contracts
import Foundation
import Messaging
import Primitives

/// Gives a user a plan that nobody pays.
struct GivePlan: Sendable {
    let subscriptions: SubscriptionStore

    /// Gives it; the same order once more changes nothing and is not announced again.
    func callAsFunction(
        _ gift: PlanGift,
        to user: UserID,
        by operator: OperatorOrder,
        in transaction: EventTransaction
    ) async throws {
        let before = try await self.subscriptions.lock(user, in: transaction)
        guard try await self.subscriptions.give(gift, to: user, in: transaction) else { return }
        try await transaction.publish(
            SubscriptionActivated(
                userID: user.uuid,
                plan: gift.plan.name,
                activeUntil: Timestamp.text(gift.until)
            ),
            about: user
        )
        try await transaction.record(
            "plan.given",
            on: user,
            before: Given(plan: before?.plan, until: before?.activeUntil),
            after: Given(plan: gift.plan, until: gift.until),
            by: `operator`
        )
    }

    /// What the audit says of a plan.
    private struct Given: Encodable, Sendable {
        let plan: String
        let until: String?

        init(plan: Plan?, until: Date?) {
            self.plan = (plan ?? .free).name
            self.until = until.map { Timestamp.text($0) }
        }
    }
}
