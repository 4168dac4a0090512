import Contracts
import Messaging
import Primitives

/// Asks for the charges of renewals that are due, and for another try of those that were refused.
struct RenewDue: Sendable {
    let subscriptions: SubscriptionStore
    let askForCharge: AskForCharge
    let terms: Terms

    /// Renewals of one transaction; the rest have their turn in the next.
    static let batch = 100

    /// Asks for some of them, on any number of replicas at once.
    ///
    /// A row that is locked by another is left to it, and when it is free again its charge is open: so each is asked for
    /// once.
    func callAsFunction(in transaction: EventTransaction) async throws {
        for (user, known) in try await self.subscriptions.lockDue(limit: Self.batch, in: transaction) {
            var subscription = known
            let charge = subscription.renew(of: user, terms: self.terms)
            if let charge, try await !self.askForCharge(charge, in: transaction) {
                // Paid before: an operator has taken the plan back meanwhile. Nobody pays for a day twice.
                subscription.pendingCharge = nil
                subscription.endRenewal()
            }
            try await self.subscriptions.saveRenewal(subscription, of: user, in: transaction)
            guard subscription.pendingCharge == nil, let event = SubscriptionCancelled(subscription, of: user) else {
                continue
            }
            try await transaction.publish(event, about: user)
        }
    }
}
