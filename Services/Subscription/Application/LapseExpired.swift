import Contracts
import Messaging
import Primitives

/// Ends plans whose time is over.
struct LapseExpired: Sendable {
    let subscriptions: SubscriptionStore

    /// Plans that end in one transaction; the rest have their turn in the next.
    static let batch = 100

    /// Ends some of them and announces each.
    func callAsFunction(in transaction: EventTransaction) async throws {
        for ended in try await self.subscriptions.endExpired(limit: Self.batch, in: transaction) {
            try await transaction.publish(
                SubscriptionLapsed(userID: ended.user.uuid, plan: ended.plan.name),
                about: ended.user
            )
        }
    }
}
