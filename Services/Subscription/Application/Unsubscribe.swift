import Contracts
import Messaging
import Primitives

/// A person wants no further period.
struct Unsubscribe: Sendable {
    let subscriptions: SubscriptionStore

    /// Lets the plan end with what is paid; once more changes nothing.
    ///
    /// - Throws: `SubscriptionError.notOnboarded`, `notSubscribed`, `chargePending`.
    func callAsFunction(_ user: UserID, in transaction: EventTransaction) async throws {
        guard var subscription = try await self.subscriptions.lock(user, in: transaction) else {
            throw SubscriptionError.notOnboarded
        }
        guard try subscription.cancel(now: transaction.now) else { return }
        try await self.subscriptions.saveRenewal(subscription, of: user, in: transaction)
        guard let event = SubscriptionCancelled(subscription, of: user) else { return }
        try await transaction.publish(event, about: user)
    }

    /// The person is gone: nothing is charged any more.
    func erased(_ user: UserID, in transaction: EventTransaction) async throws {
        guard var subscription = try await self.subscriptions.lock(user, in: transaction) else { return }
        subscription.endRenewal()
        try await self.subscriptions.saveRenewal(subscription, of: user, in: transaction)
    }
}
