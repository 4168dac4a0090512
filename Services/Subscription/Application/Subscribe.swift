import Contracts
import Foundation
import Messaging
import Primitives

/// A person orders a plan.
struct Subscribe: Sendable {
    let subscriptions: SubscriptionStore
    let askForCharge: AskForCharge
    let terms: Terms

    /// Asks for the first charge, or lets a plan that runs go on as the one ordered.
    ///
    /// Whatever it throws it has thrown before it wrote anything.
    /// - Returns: Whether a charge is under way.
    /// - Throws: `SubscriptionError`.
    func callAsFunction(_ order: PlanRequest, user: UserID, in transaction: EventTransaction) async throws -> Bool {
        guard var subscription = try await self.subscriptions.lock(user, in: transaction) else {
            throw SubscriptionError.notOnboarded
        }
        let now = transaction.now
        let step = try subscription.order(
            order.plan,
            reference: { Charge.reference(of: user, $0) },
            now: now,
            terms: self.terms
        )
        switch step {
        case .charge(let start):
            let amount = try self.price(of: order, at: start ?? now)
            guard
                let reference = subscription.pendingCharge,
                try await self.askForCharge(
                    Charge(reference: reference, user: user, plan: order.plan, amount: amount, startsAt: start),
                    in: transaction
                )
            else { throw SubscriptionError.periodPaid }
            try await self.subscriptions.saveRenewal(subscription, of: user, in: transaction)
            return true
        case .renewal(let isResumed):
            _ = try self.price(of: order, at: now)
            try await self.subscriptions.saveRenewal(subscription, of: user, in: transaction)
            guard isResumed, let event = SubscriptionActivated(subscription, of: user) else { return false }
            try await transaction.publish(event, about: user)
            return false
        }
    }

    private func price(of order: PlanRequest, at moment: Date) throws(SubscriptionError) -> Money {
        guard let price = self.terms.prices.price(of: order.plan, at: moment) else { throw .planUnknown }
        guard order.price == nil || order.price == price else { throw .priceChanged }
        return price
    }
}
