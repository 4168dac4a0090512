import Contracts
import Foundation
import Primitives

/// What people are told about their plan.
extension Notice {
    /// A plan began.
    static func activated(_ data: SubscriptionActivated) -> Notice {
        Notice(data.userID, .planActive, NoticeText.planActive(until: Self.day(data.activeUntil)))
    }

    /// The next period is paid.
    static func renewed(_ data: SubscriptionRenewed) -> Notice {
        Notice(data.userID, .planRenewed, NoticeText.planRenewed(until: Self.day(data.activeUntil)))
    }

    /// There will be no further period.
    static func cancelled(_ data: SubscriptionCancelled) -> Notice {
        Notice(data.userID, .planCancelled, NoticeText.planCancelled(until: Self.day(data.activeUntil)))
    }

    /// A period could not be paid.
    static func notPaid(_ data: SubscriptionPaymentFailed) -> Notice {
        let text = NoticeText.planNotPaid(
            data.amount,
            isShort: data.reason == "insufficient_funds",
            until: data.graceUntil.map(Self.day),
            isTriedAgain: data.retryAt != nil
        )
        return Notice(data.userID, .planNotPaid, text)
    }

    /// A plan ended.
    static func lapsed(_ data: SubscriptionLapsed) -> Notice {
        Notice(data.userID, .planLapsed, NoticeText.planLapsed)
    }

    /// The day in Lagos of a moment in an event.
    private static func day(_ text: String) -> String {
        Timestamp.parse(text).map { LagosCalendar.day(of: $0).description } ?? String(text.prefix(10))
    }
}
