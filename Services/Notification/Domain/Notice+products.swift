import Contracts
import Foundation
import Primitives

/// What people are told about money drops and payment requests; the money itself is told of by its transfers.
extension Notice {
    /// A drop can be claimed.
    static func opened(_ data: MoneyDropOpened) -> Notice {
        let each = Money(kobo: data.amountPerClaim).nairaText
        return Notice(
            data.creatorID,
            "money_drop.opened",
            "Money Drop Ready",
            "Your drop of \(data.slots) times \(each) can be claimed. Share its link.",
            about: data.moneyDropID.lowercased
        )
    }

    /// Nobody can claim from a drop any more.
    static func ended(_ data: MoneyDropEnded) -> Notice {
        let text =
            switch data.reason {
            case .known(.fundingFailed): "The money for your drop could not be sent and is back in your wallet."
            case .known(.fundingReversed): "The money for your drop was returned to your wallet."
            case .known(.claimed): "All \(data.slots) slots of your drop were claimed."
            case .known(.expired), .known(.ended), .unknown:
                "\(data.claimed) of \(data.slots) slots of your drop were claimed. What is left comes back to you."
            }
        return Notice(
            data.creatorID,
            "money_drop.ended",
            "Money Drop Ended",
            text,
            about: data.moneyDropID.lowercased
        )
    }

    /// A person was asked for money; nil for a request that names nobody.
    static func asked(_ data: PaymentRequestCreated) -> Notice? {
        data.payerID.map { payer in
            let amount = data.amount.map { Money(kobo: $0).nairaText } ?? "money"
            return Notice(
                payer,
                "payment_request.created",
                "Payment Request",
                "You were asked for \(amount).",
                about: data.paymentRequestID.lowercased
            )
        }
    }

    /// A request was paid, and the money has arrived.
    static func fulfilled(_ data: PaymentRequestFulfilled) -> Notice {
        Notice(
            data.ownerID,
            "payment_request.fulfilled",
            "Request Paid",
            "Your payment request was paid.",
            about: data.paymentRequestID.lowercased
        )
    }

    /// The payment of a request did not arrive or came back.
    static func reopened(_ data: PaymentRequestReopened) -> Notice {
        Notice(
            data.ownerID,
            "payment_request.reopened",
            "Request Open Again",
            "The payment of your request did not go through. It can be paid again.",
            about: data.paymentRequestID.lowercased
        )
    }

    /// The person asked has said no.
    static func declined(_ data: PaymentRequestDeclined) -> Notice {
        Notice(
            data.ownerID,
            "payment_request.declined",
            "Request Declined",
            "Your payment request was declined.",
            about: data.paymentRequestID.lowercased
        )
    }

    /// The time of a request is over.
    static func expired(_ data: PaymentRequestExpired) -> Notice {
        Notice(
            data.ownerID,
            "payment_request.expired",
            "Request Expired",
            "Your payment request has expired.",
            about: data.paymentRequestID.lowercased
        )
    }
}
