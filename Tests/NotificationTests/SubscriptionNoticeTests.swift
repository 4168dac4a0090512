import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Messages about plans", .serialized)
struct SubscriptionNoticeTests {
    @Test("a plan's owner hears how it goes on, by the day in Lagos, and of each charge once")
    func plan() async throws {
        try await withNotification { world in
            let user = world.ada.uuid
            // Half past midnight in Lagos on the 21st.
            let end = "2026-12-20T23:30:00.000Z"
            let grace = "2026-12-23T23:30:00.000Z"
            try await world.hear(
                SubscriptionActivated(userID: user, plan: "plus", activeUntil: end, graceUntil: grace)
            )
            try await world.hear(
                SubscriptionRenewed(userID: user, plan: "plus", activeUntil: end, graceUntil: grace),
                sequence: 2
            )
            let failures: [(String, String?, String?)] = [
                ("insufficient_funds", nil, nil), ("insufficient_funds", end, grace), ("sender_restricted", nil, grace),
            ]
            for (index, (reason, retry, until)) in failures.enumerated() {
                try await world.hear(
                    SubscriptionPaymentFailed(
                        userID: user,
                        plan: "plus",
                        amount: 150_000,
                        reason: reason,
                        retryAt: retry,
                        graceUntil: until
                    ),
                    sequence: Int64(3 + index)
                )
            }
            try await world.hear(SubscriptionCancelled(userID: user, plan: "plus", activeUntil: end), sequence: 6)
            // Its charge is a transaction too, of which the subscription tells.
            try await world.hear(
                TransactionCompleted(
                    transactionID: world.ids.next(),
                    senderID: user,
                    amount: 150_000,
                    type: Open(.subscriptionCharge),
                    route: Open(.internal),
                    fee: 0,
                    duty: 0,
                    timestamp: end
                )
            )
            let bodies = try await world.database.psql("SELECT body FROM notifications ORDER BY id")
            #expect(
                bodies == [
                    "Your plan is active until 2026-12-21.", "Your plan was renewed and is active until 2026-12-21.",
                    "₦1,500.00 for your plan could not be paid: there is not enough in your wallet.",
                    "₦1,500.00 for your plan could not be paid: there is not enough in your wallet."
                        + " We will try again. Your plan stays active until 2026-12-24.",
                    "₦1,500.00 for your plan could not be paid: your wallet cannot pay now."
                        + " Your plan ends on 2026-12-24.",
                    "Your plan will not be renewed. It ends on 2026-12-21.",
                ]
            )
        }
    }
}
