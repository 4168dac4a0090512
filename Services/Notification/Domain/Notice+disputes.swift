import Contracts
import Foundation
import Primitives

/// What people are told about problems that they have reported.
extension Notice {
    /// The report is there; whoever did not make it hears that somebody uses the account.
    static func opened(_ data: DisputeOpened) -> Notice {
        let day = Timestamp.parse(data.dueAt).map { LagosCalendar.day(of: $0).description }
        let text = NoticeText.disputeOpened(due: day ?? String(data.dueAt.prefix(10)))
        return Notice(data.userID, .disputeOpened, text, about: data.transactionID)
    }

    /// There is an answer; its words are in the dispute.
    static func answered(_ data: DisputeAnswered) -> Notice {
        Notice(data.userID, .disputeAnswered, NoticeText.disputeAnswered, about: data.transactionID)
    }

    /// It is settled.
    static func closed(_ data: DisputeClosed) -> Notice {
        Notice(data.userID, .disputeClosed, NoticeText.disputeClosed(data.outcome), about: data.transactionID)
    }
}
