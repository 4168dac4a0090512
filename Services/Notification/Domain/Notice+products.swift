import Contracts
import Foundation
import Primitives

/// What people are told about money drops and payment requests; the money itself is told of by its transfers.
extension Notice {
    /// A drop can be claimed.
    static func opened(_ data: MoneyDropOpened) -> Notice {
        let text = NoticeText.dropOpened(data.slots, data.amountPerClaim)
        return Notice(data.creatorID, .dropOpened, text, about: data.moneyDropID)
    }

    /// Somebody got a part of a drop; the claimant hears of the money by its transfer.
    static func claimed(_ data: MoneyDropClaimed) -> Notice {
        let text = NoticeText.dropClaimed(data.claimed, of: data.slots)
        return Notice(data.creatorID, .dropClaimed, text, about: data.moneyDropID)
    }

    /// Nobody can claim from a drop any more.
    static func ended(_ data: MoneyDropEnded) -> Notice {
        let text = NoticeText.dropEnded(data.reason, claimed: data.claimed, of: data.slots)
        return Notice(data.creatorID, .dropEnded, text, about: data.moneyDropID)
    }

    /// A person was asked for money; nil for a request that names nobody.
    static func asked(_ data: PaymentRequestCreated) -> Notice? {
        data.payerID.map { Notice($0, .asked, NoticeText.asked(data.amount), about: data.paymentRequestID) }
    }

    /// A request was paid, and the money has arrived.
    static func fulfilled(_ data: PaymentRequestFulfilled) -> Notice {
        Notice(data.ownerID, .requestPaid, NoticeText.requestPaid(data.amount), about: data.paymentRequestID)
    }

    /// The payment of a request did not arrive or came back.
    static func reopened(_ data: PaymentRequestReopened) -> Notice {
        Notice(data.ownerID, .requestReopened, NoticeText.requestReopened, about: data.paymentRequestID)
    }

    /// The person asked has said no.
    static func declined(_ data: PaymentRequestDeclined) -> Notice {
        Notice(data.ownerID, .requestDeclined, NoticeKind.requestDeclined.discreet, about: data.paymentRequestID)
    }

    /// The one who asked needs nothing any more; nil for a request that names nobody.
    static func cancelled(_ data: PaymentRequestCancelled) -> Notice? {
        data.payerID.map {
            Notice($0, .requestCancelled, NoticeKind.requestCancelled.discreet, about: data.paymentRequestID)
        }
    }

    /// The time of a request is over.
    static func expired(_ data: PaymentRequestExpired) -> Notice {
        Notice(data.ownerID, .requestExpired, NoticeKind.requestExpired.discreet, about: data.paymentRequestID)
    }
}
