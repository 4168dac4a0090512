import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import NotificationService

@Suite("Messages about money drops and payment requests", .serialized)
struct ProductNoticeTests {
    private let time = "2026-11-21T01:07:05.123Z"

    @Test("a person who is asked for money hears of it, and the one who asks hears how it went")
    func requests() async throws {
        try await withNotification { world in
            let bola = UserID(clerkSubject: "user_bola")
            let id = world.ids.next()
            try await world.hear(
                PaymentRequestCreated(
                    paymentRequestID: id,
                    ownerID: world.ada.uuid,
                    payerID: bola.uuid,
                    amount: 123_450,
                    timestamp: self.time
                )
            )
            // By link: nobody is named, so nobody is told.
            try await world.hear(
                PaymentRequestCreated(paymentRequestID: world.ids.next(), ownerID: world.ada.uuid, timestamp: self.time)
            )
            #expect(try await world.titles(bola.uuid) == ["Payment Request"])
            let body = "SELECT body FROM notifications WHERE kind = 'payment_request.created'"
            #expect(try await world.database.psql(body) == ["You were asked for ₦1,234.50."])

            let (owner, transfer) = (world.ada.uuid, world.ids.next())
            try await world.hear(
                PaymentRequestReopened(
                    paymentRequestID: id,
                    ownerID: owner,
                    transactionID: transfer,
                    timestamp: self.time
                )
            )
            try await world.hear(
                PaymentRequestFulfilled(
                    paymentRequestID: id,
                    ownerID: owner,
                    transactionID: transfer,
                    timestamp: self.time
                )
            )
            try await world.hear(PaymentRequestDeclined(paymentRequestID: id, ownerID: owner, timestamp: self.time))
            try await world.hear(PaymentRequestExpired(paymentRequestID: id, ownerID: owner, timestamp: self.time))
            #expect(
                try await Set(world.titles(owner)) == [
                    "Request Open Again", "Request Paid", "Request Declined", "Request Expired",
                ]
            )
        }
    }

    @Test(
        "the creator of a drop hears why it ended and what comes back",
        arguments: [
            (.expired, "2 of 5 slots of your drop were claimed. What is left comes back to you."),
            (.claimed, "All 5 slots of your drop were claimed."),
            (.fundingFailed, "The money for your drop could not be sent and is back in your wallet."),
        ] as [(MoneyDropEnd, String)]
    )
    func drops(_ reason: MoneyDropEnd, _ text: String) async throws {
        try await withNotification { world in
            try await world.hear(
                MoneyDropEnded(
                    moneyDropID: world.ids.next(),
                    creatorID: world.ada.uuid,
                    amountPerClaim: 5000,
                    slots: 5,
                    reason: Open(reason),
                    claimed: 2,
                    timestamp: self.time
                )
            )
            #expect(try await world.titles(world.ada.uuid) == ["Money Drop Ended"])
            #expect(try await world.database.psql("SELECT body FROM notifications") == [text])
        }
    }
}
