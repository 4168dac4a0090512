import Foundation
import Primitives

/// What a person is told of an order that was accepted: the same whenever they ask again.
struct OrderReceipt: Sendable, Equatable {
    /// What the order was aimed at.
    enum Target: Sendable, Equatable {
        /// A user, by name.
        case recipient(String)
        /// A bank account of the person's own.
        case beneficiary(UUID)
        /// A new money drop.
        case moneyDrop(Drop)
    }

    /// A drop as it was made.
    struct Drop: Sendable, Equatable {
        let id: UUID
        let amountPerClaim: Int64
        let slots: Int
        let passwordRequired: Bool
        let expiresAt: Date
        let link: String
    }

    /// The transfer.
    let transaction: UUID
    /// `external` or `internal`.
    let route: String
    let amount: Int64
    let fee: Int64
    let duty: Int64
    let target: Target
    let createdAt: Date
    /// The version in which it is written, the same whenever it is written again.
    let version: Int16

    /// The version of what is accepted now; the ledger's `answer_version()` names it too.
    static let newestVersion: Int16 = 1
}

extension OrderReceipt.Target {
    init(_ order: Order) {
        switch order {
        case .payment(let draft, _): self = .recipient(draft.recipient)
        case .withdrawal(let beneficiary, _): self = .beneficiary(beneficiary)
        case .moneyDrop(let drop):
            self = .moneyDrop(
                OrderReceipt.Drop(
                    id: drop.id,
                    amountPerClaim: drop.draft.amountPerClaim.kobo,
                    slots: drop.draft.slots,
                    passwordRequired: drop.passwordHash != nil,
                    expiresAt: drop.draft.expiresAt,
                    link: drop.link
                )
            )
        }
    }
}

/// How an order was answered.
struct OrderAnswer: Sendable, Equatable {
    enum Outcome: Sendable, Equatable {
        case accepted(OrderReceipt)
        /// With the code of an `OrderRefusal`, or of one that only a newer version knows.
        case refused(String)
    }

    let outcome: Outcome
    /// Whether the same request was answered before, so that nothing happened this time.
    let isRepeated: Bool
}
