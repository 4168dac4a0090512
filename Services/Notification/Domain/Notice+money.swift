import Contracts
import Foundation
import Primitives

/// What people are told about money.
extension Notice {
    /// A transfer arrived: sender and recipient hear it differently.
    static func completed(_ data: TransactionCompleted) -> [Notice] {
        var notices: [Notice] = []
        if let sender = data.senderID, let text = Self.sent(data) {
            notices.append(Notice(sender, .sent, text, about: data.transactionID))
        }
        if let recipient = data.recipientID, recipient != data.senderID, let (kind, text) = Self.arrived(data) {
            notices.append(Notice(recipient, kind, text, about: data.transactionID))
        }
        return notices
    }

    private static func sent(_ data: TransactionCompleted) -> String? {
        switch data.type {
        case .known(.selfTransfer): NoticeText.withdrawn(data.amount)
        case .known(.moneyDrop): NoticeText.setAside(data.amount)
        // The plan's own events tell of its price.
        case .known(.inbound), .known(.dropClaim), .known(.dropRefund), .known(.subscriptionCharge): nil
        case .known(.p2p), .unknown: NoticeText.sent(data.amount)
        }
    }

    /// What the one who is paid hears: money that waits in suspense is booked and yet not in the wallet.
    private static func arrived(_ data: TransactionCompleted) -> (NoticeKind, String)? {
        if data.isInSuspense { return (.suspended, NoticeText.suspended(data.amount)) }
        return switch data.type {
        case .known(.inbound): (.credited, NoticeText.credited(data.amount))
        case .known(.selfTransfer), .known(.moneyDrop), .known(.subscriptionCharge): nil
        case .known(.dropClaim): (.received, NoticeText.claimed(data.amount))
        case .known(.dropRefund): (.received, NoticeText.dropRefunded(data.amount))
        case .known(.p2p), .unknown:
            (.received, NoticeText.received(data.amount, inBank: data.route.value == .external))
        }
    }

    /// A transfer failed; only who ordered it had heard of it.
    static func failed(_ data: TransactionFailed) -> Notice? {
        switch data.type {
        // A refund is made again until it arrives.
        case .known(.dropRefund): nil
        case .known(.dropClaim):
            data.recipientID.map { Notice($0, .failed, NoticeText.claimFailed(data.amount), about: data.transactionID) }
        case .known, .unknown:
            data.senderID.map { Notice($0, .failed, NoticeText.failed(data.amount), about: data.transactionID) }
        }
    }

    /// A completed transfer was returned.
    ///
    /// What is in the books `inbound` released the transfer's money out of suspense, and the transfer itself tells of it.
    static func reversed(_ data: TransactionReversed) -> [Notice] {
        guard data.type != .known(.inbound) else { return [] }
        let (id, amount) = (data.transactionID, data.amount)
        var notices: [Notice] = []
        if let sender = data.senderID {
            notices.append(Notice(sender, .reversed, NoticeText.reversed(amount), about: id))
        }
        if let recipient = data.recipientID, recipient != data.senderID {
            let owed = data.receivable.flatMap { $0 > 0 ? $0 : nil }
            let text = owed.map { NoticeText.takenBack(amount, owed: $0) } ?? NoticeText.takenBack(amount)
            notices.append(Notice(recipient, .takenBack, text, about: id))
        }
        return notices
    }

    /// A payment went to the wallet instead of the bank account.
    static func rerouted(_ data: TransferReroutedInternal) -> Notice {
        Notice(data.recipientID, .rerouted, NoticeText.rerouted(data.amount), about: data.transactionID)
    }
}
