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

    @Test(
        "whoever moved or got money hears of it once, in words that fit what it was",
        arguments: [
            (.p2p, "₦50.00 was sent.", "₦50.00 arrived in your bank account."),
            (.selfTransfer, "₦50.00 arrived in your bank account.", nil),
            (.moneyDrop, "₦50.00 was set aside for your money drop.", nil),
            (.dropClaim, nil, "₦50.00 of a money drop arrived in your wallet."),
            (.dropRefund, nil, "₦50.00 was left of your drop and is back in your wallet."),
            (.inbound, nil, "₦50.00 was added to your wallet."),
        ] as [(TransactionType, String?, String?)]
    )
    func completed(_ type: TransactionType, _ sent: String?, _ received: String?) async throws {
        try await withNotification { world in
            let bola = UserID(clerkSubject: "user_bola")
            try await world.hear(
                TransactionCompleted(
                    transactionID: world.ids.next(),
                    senderID: sent == nil ? nil : world.ada.uuid,
                    recipientID: bola.uuid,
                    amount: 5000,
                    type: Open(type),
                    route: Open(.external),
                    fee: 0,
                    duty: 0,
                    timestamp: self.time
                )
            )
            let bodies = { (user: UserID) in
                try await world.inbox.page(user, before: nil, limit: 9, on: world.requests).map(\.body)
            }
            #expect(try await bodies(world.ada) == [sent].compactMap(\.self))
            #expect(try await bodies(bola) == [received].compactMap(\.self))
        }
    }

    @Test("claims of a drop, requests taken back and bank accounts that come and go are told")
    func more() async throws {
        try await withNotification { world in
            let ada = world.ada.uuid
            try await world.hear(
                MoneyDropClaimed(
                    moneyDropID: world.ids.next(),
                    creatorID: ada,
                    amountPerClaim: 5000,
                    slots: 5,
                    claimantID: world.ids.next(),
                    transactionID: world.ids.next(),
                    claimed: 2,
                    timestamp: self.time
                )
            )
            let request = PaymentRequestCancelled(
                paymentRequestID: world.ids.next(),
                ownerID: world.ids.next(),
                payerID: ada,
                timestamp: self.time
            )
            try await world.hear(request)
            try await world.hear(BeneficiaryRemoved(userID: ada, beneficiaryID: world.ids.next()))
            let page = try await world.inbox.page(world.ada, before: nil, limit: 9, on: world.requests)
            #expect(page.map(\.title) == ["Bank Account Removed", "Request Cancelled", "Money Drop Claimed"])
            #expect(page.map(\.category) == ["security", "requests", "drops"])
            #expect(page.last?.body == "2 of 5 slots of your drop were claimed.")
        }
    }
}
