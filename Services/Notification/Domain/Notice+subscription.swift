import Contracts
import Foundation
import Primitives

/// What people are told about their plan.
extension Notice {
    /// A plan began.
    static func activated(_ data: SubscriptionActivated) -> Notice {
        Notice(
            data.userID,
            "subscription.activated",
            "Subscription Active",
            "Your plan is active until \(Self.day(data.activeUntil))."
        )
    }

    /// The next period is paid.
    static func renewed(_ data: SubscriptionRenewed) -> Notice {
        Notice(
            data.userID,
            "subscription.renewed",
            "Subscription Renewed",
            "Your plan was renewed and is active until \(Self.day(data.activeUntil))."
        )
    }

    /// There will be no further period.
    static func cancelled(_ data: SubscriptionCancelled) -> Notice {
        Notice(
            data.userID,
            "subscription.cancelled",
            "Subscription Cancelled",
            "Your plan will not be renewed. It ends on \(Self.day(data.activeUntil))."
        )
    }

    /// A period could not be paid.
    static func notPaid(_ data: SubscriptionPaymentFailed) -> Notice {
        let amount = Money(kobo: data.amount).nairaText
        let reason =
            data.reason == "insufficient_funds" ? "there is not enough in your wallet" : "your wallet cannot pay now"
        let rest =
            switch (data.graceUntil, data.retryAt) {
            case (let end?, _?): " We will try again. Your plan stays active until \(Self.day(end))."
            case (let end?, nil): " Your plan ends on \(Self.day(end))."
            case (nil, _): ""
            }
        return Notice(
            data.userID,
            "subscription.payment_failed",
            "Subscription Not Paid",
            "\(amount) for your plan could not be paid: \(reason).\(rest)"
        )
    }

    /// A plan ended.
    static func lapsed(_ data: SubscriptionLapsed) -> Notice {
        Notice(
            data.userID,
            "subscription.lapsed",
            "Subscription Ended",
            "Your plan has ended. You are on the free plan now."
        )
    }

    /// The day in Lagos of a moment in an event.
    private static func day(_ text: String) -> String {
        Timestamp.parse(text).map { LagosCalendar.day(of: $0).description } ?? String(text.prefix(10))
    }
}
