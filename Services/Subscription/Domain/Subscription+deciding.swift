import Foundation
import Primitives

/// What becomes of a subscription: pure.
extension Subscription {
    /// What an order to subscribe leads to.
    enum OrderStep: Hashable, Sendable {
        /// A charge is to be asked for, for a period from then; nil: from when it is paid.
        case charge(from: Date?)
        /// Nothing is to be paid now; `isResumed`: a plan that was to end goes on.
        case renewal(isResumed: Bool)
    }

    /// A person orders a plan.
    ///
    /// - Throws: `SubscriptionError.chargePending`.
    mutating func order(
        _ plan: Plan,
        reference: (Date) -> String,
        now: Date,
        terms: Terms
    ) throws(SubscriptionError) -> OrderStep {
        guard self.pendingCharge == nil else { throw .chargePending }
        guard self.isActive(at: now), let paidUntil = self.activeUntil else {
            self.renewsAs = plan
            self.nextChargeAt = nil
            self.pendingCharge = reference(now)
            return .charge(from: nil)
        }
        let isResumed = self.renewsAs == nil
        self.renewsAs = plan
        if self.isInGrace(at: now) {
            self.nextChargeAt = nil
            self.pendingCharge = reference(paidUntil)
            return .charge(from: paidUntil)
        }
        self.graceUntil = paidUntil.addingTimeInterval(terms.grace / .seconds(1))
        self.nextChargeAt = paidUntil
        return .renewal(isResumed: isResumed)
    }

    /// A person wants no further period; what is paid stays.
    ///
    /// - Returns: Whether that is a change.
    /// - Throws: `SubscriptionError.chargePending` while a first charge is open, `notSubscribed`.
    mutating func cancel(now: Date) throws(SubscriptionError) -> Bool {
        guard self.isActive(at: now) else {
            throw self.pendingCharge == nil ? .notSubscribed : .chargePending
        }
        guard self.renewsAs != nil else { return false }
        self.endRenewal()
        return true
    }

    /// There will be no further period.
    ///
    /// An open charge decides for itself: until it has, the grace goes on.
    mutating func endRenewal() {
        self.renewsAs = nil
        self.nextChargeAt = nil
        if self.pendingCharge == nil { self.graceUntil = nil }
    }

    /// A renewal is due.
    ///
    /// - Returns: What is to be charged; nil when the plan is no longer sold, and so ends.
    mutating func renew(of user: UserID, terms: Terms) -> Charge? {
        guard let start = self.activeUntil, let plan = self.renewsAs,
            let price = terms.prices.price(of: plan, at: start)
        else {
            self.endRenewal()
            return nil
        }
        let reference = Charge.reference(of: user, start)
        self.nextChargeAt = nil
        self.pendingCharge = reference
        return Charge(reference: reference, user: user, plan: plan, amount: price, startsAt: start)
    }

    /// The open charge was paid.
    ///
    /// A renewal that was paid in time begins where the last period ended; one that came when the plan counted no longer
    /// begins when it was paid, so that nobody pays for days that they did not have. What an operator has given
    /// meanwhile is not cut short: the period that was paid begins where it ends.
    ///
    /// - Returns: Whether it was a renewal.
    mutating func pay(_ charge: Charge, at moment: Date, terms: Terms) -> Bool {
        let isRenewal = charge.startsAt != nil && self.isActive(at: moment)
        let given = self.anchor == nil && self.isActive(at: moment) ? self.activeUntil : nil
        let start = given ?? (isRenewal ? charge.startsAt ?? moment : moment)
        let anchor = isRenewal ? self.anchor ?? start : start
        let end = Anniversary.of(anchor, after: start)
        self.plan = charge.plan
        self.anchor = anchor
        self.activeUntil = end
        self.pendingCharge = nil
        self.nextChargeAt = self.renewsAs == nil ? nil : end
        self.graceUntil = self.renewsAs == nil ? nil : end.addingTimeInterval(terms.grace / .seconds(1))
        return isRenewal
    }

    /// The open charge was refused.
    ///
    /// A renewal is tried again as long as the grace lasts; a first charge is not.
    mutating func refuse(_ charge: Charge, now: Date, terms: Terms) {
        self.pendingCharge = nil
        guard charge.startsAt != nil, self.renewsAs != nil, let end = self.graceUntil else { return self.endRenewal() }
        let retry = now.addingTimeInterval(terms.retryPause / .seconds(1))
        self.nextChargeAt = retry < end ? retry : nil
    }
}
