import Contracts
import Foundation
import Messaging
import Primitives

/// What `transaction` says about a charge decides the period.
struct SettleCharge: Sendable {
    let subscriptions: SubscriptionStore
    let charges: ChargeStore
    let terms: Terms

    /// The price was taken: a period begins.
    ///
    /// - Throws: `UnexpectedPayment` when nobody waits for it: money moved for nothing, and a person has to look.
    func paid(_ data: SubscriptionChargePaid, in transaction: EventTransaction) async throws {
        guard let moment = Timestamp.parse(data.timestamp) else { throw EventProblem.undecodableData }
        let user = UserID(data.userID)
        guard let (known, charge) = try await self.open(data.reference, data.attempt, of: user, transaction)
        else {
            guard try await self.charges.find(data.reference, in: transaction)?.state == .paid else {
                throw UnexpectedPayment()
            }
            return
        }
        var subscription = known
        let isRenewal = subscription.pay(charge, at: moment, terms: self.terms)
        try await self.subscriptions.save(subscription, of: user, in: transaction)
        try await self.charges.decide(
            data.reference,
            paidBy: data.transactionID,
            reason: nil,
            at: moment,
            in: transaction
        )
        if isRenewal, let event = SubscriptionRenewed(subscription, of: user) {
            try await transaction.publish(event, about: user)
        } else if let event = SubscriptionActivated(subscription, of: user) {
            try await transaction.publish(event, about: user)
        }
    }

    /// The price could not be taken.
    func refused(_ data: SubscriptionChargeRefused, in transaction: EventTransaction) async throws {
        guard let moment = Timestamp.parse(data.timestamp) else { throw EventProblem.undecodableData }
        let user = UserID(data.userID)
        guard let (known, charge) = try await self.open(data.reference, data.attempt, of: user, transaction)
        else { return }
        var subscription = known
        subscription.refuse(charge, now: transaction.now, terms: self.terms)
        try await self.subscriptions.save(subscription, of: user, in: transaction)
        try await self.charges.decide(
            data.reference,
            paidBy: nil,
            reason: data.reason,
            at: moment,
            in: transaction
        )
        try await transaction.publish(
            SubscriptionPaymentFailed(
                userID: user.uuid,
                plan: charge.plan.name,
                amount: charge.amount.kobo,
                reason: data.reason,
                retryAt: subscription.nextChargeAt.map { Timestamp.text($0) },
                graceUntil: subscription.graceUntil.map { Timestamp.text($0) }
            ),
            about: user
        )
    }

    /// The subscription, locked, and its open charge, when that is what is spoken of.
    private func open(
        _ reference: String,
        _ attempt: Int,
        of user: UserID,
        _ transaction: EventTransaction
    ) async throws -> (Subscription, Charge)? {
        guard let subscription = try await self.subscriptions.lock(user, in: transaction),
            subscription.pendingCharge == reference,
            let stored = try await self.charges.find(reference, in: transaction),
            stored.state == .pending, stored.attempt == attempt
        else { return nil }
        return (subscription, stored.charge)
    }
}

/// A charge was paid that nobody waits for.
struct UnexpectedPayment: Error {}
