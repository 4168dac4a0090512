import Contracts
import Foundation
import Primitives

/// Money of one user that moved one way.
struct Movement: Hashable, Sendable {
    let user: UserID
    let direction: Direction
    let amount: Money
}

extension Movement {
    /// What a completed transfer moved; nothing for kinds that are not payments between users.
    ///
    /// Nothing is zero: what did not move has no movement.
    static func all(of transfer: TransactionCompleted) throws(MoneyOverflow) -> [Movement] {
        switch transfer.type {
        case .known(.p2p): try Self.payment(transfer)
        case .known(.selfTransfer), .known(.moneyDrop), .known(.dropClaim), .known(.dropRefund),
            .known(.subscriptionCharge), .known(.inbound), .unknown:
            // Money from outside is told by wallet.credited, the others are not offered yet.
            []
        }
    }

    private static func payment(_ transfer: TransactionCompleted) throws(MoneyOverflow) -> [Movement] {
        var movements: [Movement] = []
        let amount = Money(kobo: transfer.amount)
        if let sender = transfer.senderID {
            let fees = try Money(kobo: transfer.fee).adding(Money(kobo: transfer.duty))
            movements.append(Movement(user: UserID(sender), direction: .moneyOut, amount: amount))
            movements.append(Movement(user: UserID(sender), direction: .fees, amount: fees))
        }
        if let recipient = transfer.recipientID {
            let direction: Direction = transfer.route == .known(.external) ? .inBank : .inWallet
            movements.append(Movement(user: UserID(recipient), direction: direction, amount: amount))
        }
        return movements.filter { $0.amount != .zero }
    }

    /// What a payment from outside moved; nothing when it carries a reference of ours: that is one of our own transfers
    /// seen from the provider's side, and `transaction.completed` tells of it.
    static func all(of payment: WalletCredited) -> [Movement] {
        guard payment.reference?.hasPrefix(Self.ownReference) != true, payment.amount != 0 else { return [] }
        return [Movement(user: UserID(payment.userID), direction: .inWallet, amount: Money(kobo: payment.amount))]
    }

    /// How references of transfers begin that we order at the provider.
    private static let ownReference = "trf-"
}
