import Contracts
import Foundation
import Primitives

/// What people are told about money.
extension Notice {
    /// Money came in from a bank; nil when it carries a reference of ours: then its transfer says what happened.
    static func credited(_ data: WalletCredited) -> Notice? {
        guard data.reference == nil else { return nil }
        return Notice(
            data.userID,
            "wallet.credited",
            "Money Received",
            "\(Self.naira(data.amount)) was added to your wallet.",
            about: data.paymentID.lowercased
        )
    }

    /// A transfer arrived: sender and recipient hear it differently.
    static func completed(_ data: TransactionCompleted) -> [Notice] {
        // `wallet.credited` has told of money from outside, and the subscription tells of its own charges.
        guard data.type.value != .inbound, data.type.value != .subscriptionCharge else { return [] }
        let id = data.transactionID.lowercased
        let amount = Self.naira(data.amount)
        var notices: [Notice] = []
        if let sender = data.senderID {
            notices.append(
                Notice(sender, "transaction.completed", "Transfer Successful", "\(amount) was sent.", about: id)
            )
        }
        if let recipient = data.recipientID, recipient != data.senderID {
            let place = data.route.value == .external ? "bank account" : "wallet"
            notices.append(
                Notice(
                    recipient,
                    "transaction.received",
                    "Money Received",
                    "\(amount) arrived in your \(place).",
                    about: id
                )
            )
        }
        return notices
    }

    /// A transfer failed; only its sender had heard of it.
    static func failed(_ data: TransactionFailed) -> Notice? {
        data.senderID.map { sender in
            Notice(
                sender,
                "transaction.failed",
                "Transfer Failed",
                "\(Self.naira(data.amount)) could not be sent and is back in your wallet, fees included.",
                about: data.transactionID.lowercased
            )
        }
    }

    /// A completed transfer was returned.
    static func reversed(_ data: TransactionReversed) -> [Notice] {
        let id = data.transactionID.lowercased
        let amount = Self.naira(data.amount)
        var notices: [Notice] = []
        if let sender = data.senderID {
            notices.append(
                Notice(
                    sender,
                    "transaction.reversed",
                    "Transfer Reversed",
                    "\(amount) was returned to your wallet, fees included.",
                    about: id
                )
            )
        }
        if let recipient = data.recipientID, recipient != data.senderID {
            notices.append(
                Notice(
                    recipient,
                    "transaction.taken_back",
                    "Transfer Reversed",
                    "A transfer of \(amount) to you was reversed.",
                    about: id
                )
            )
        }
        return notices
    }

    /// A payment went to the wallet instead of the bank account.
    static func rerouted(_ data: TransferReroutedInternal) -> Notice {
        Notice(
            data.recipientID,
            "transfer.rerouted.internal",
            "Sent To Your Wallet",
            "\(Self.naira(data.amount)) is on its way to your wallet: no free transfer to your bank is left this month.",
            about: data.transactionID.lowercased
        )
    }

    private static func naira(_ kobo: Int64) -> String { Money(kobo: kobo).nairaText }
}
