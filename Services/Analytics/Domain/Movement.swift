import Contracts
import Foundation
import Primitives

/// Money of one user that moved one way.
struct Movement: Hashable, Sendable {
    let user: UserID
    let direction: Direction
    let amount: Money
    let category: Category
    /// Another user; nil for money from or to outside, and for what is ours.
    var counterparty: UserID?
}

extension Movement {
    /// What a completed transfer moved.
    ///
    /// Between a user's own places nothing is spent or earned: a withdrawal, the funding of a drop and what comes back
    /// from one count nothing but their fees. What waits in suspense has not arrived.
    static func all(of transfer: TransactionCompleted) throws(MoneyOverflow) -> [Movement] {
        let moved: [Movement] =
            switch transfer.type {
            case .known(.p2p): Self.payment(transfer)
            case .known(.subscriptionCharge): Self.spent(transfer, .subscriptions)
            case .known(.inbound): transfer.isInSuspense ? [] : Self.fromOutside(transfer)
            // A claim is told by money_drop.claimed.
            case .known(.selfTransfer), .known(.moneyDrop), .known(.dropClaim), .known(.dropRefund), .unknown: []
            }
        return (moved + (try Self.fees(of: transfer))).filter { $0.amount != .zero }
    }

    /// What a claim moved: only now has the creator of the drop given something away.
    static func all(of claim: MoneyDropClaimed) -> [Movement] {
        let (creator, claimant) = (UserID(claim.creatorID), UserID(claim.claimantID))
        let amount = Money(kobo: claim.amountPerClaim)
        return [
            Movement(user: creator, direction: .moneyOut, amount: amount, category: .gifts, counterparty: claimant),
            Movement(user: claimant, direction: .inWallet, amount: amount, category: .gifts, counterparty: creator),
        ]
    }

    private static func payment(_ transfer: TransactionCompleted) -> [Movement] {
        guard let recipient = transfer.recipientID.map(UserID.init) else { return Self.spent(transfer, .transfers) }
        let isToMerchant = transfer.recipientType == .known(.merchant)
        let spent = Self.spent(transfer, isToMerchant ? .shopping : .transfers)
        guard !transfer.isInSuspense else { return spent }
        let received = Movement(
            user: recipient,
            direction: transfer.route == .known(.external) ? .inBank : .inWallet,
            amount: Money(kobo: transfer.amount),
            category: isToMerchant ? .sales : .received,
            counterparty: transfer.senderID.map(UserID.init)
        )
        return spent + [received]
    }

    private static func spent(_ transfer: TransactionCompleted, _ category: Category) -> [Movement] {
        guard let sender = transfer.senderID.map(UserID.init) else { return [] }
        return [
            Movement(
                user: sender,
                direction: .moneyOut,
                amount: Money(kobo: transfer.amount),
                category: category,
                counterparty: transfer.recipientID.map(UserID.init)
            )
        ]
    }

    private static func fromOutside(_ transfer: TransactionCompleted) -> [Movement] {
        guard let recipient = transfer.recipientID.map(UserID.init) else { return [] }
        let amount = Money(kobo: transfer.amount)
        return [Movement(user: recipient, direction: .inWallet, amount: amount, category: .topUps)]
    }

    private static func fees(of transfer: TransactionCompleted) throws(MoneyOverflow) -> [Movement] {
        guard let sender = transfer.senderID.map(UserID.init) else { return [] }
        let fees = try Money(kobo: transfer.fee).adding(Money(kobo: transfer.duty))
        return [Movement(user: sender, direction: .fees, amount: fees, category: .fees)]
    }
}
