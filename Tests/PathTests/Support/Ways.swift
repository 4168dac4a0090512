import Contracts
import Foundation
import Postgres
import Primitives
import ServiceTestSupport

@testable import TransactionService

/// A way in which money comes into, leaves or comes back to a wallet.
struct Way {
    let name: String
    let walk: (PathWalk) async throws -> Void

    /// Every way that there is; a row of the page each.
    static var all: [Way] {
        Self.payments + Self.comingBack + Self.withdrawals + Self.fromOutside + Self.suspense + Self.outOfSuspense
            + Self.closing + Self.drops
            + Self.dropsComingBack + Self.requests + Self.others
    }

    // MARK: Payments

    static var payments: [Way] {
        [
            Way(name: "a payment is accepted") { walk in
                try await walk.from()
                try await walk.pays()
            },
            Way(name: "a payment reaches a wallet") { walk in
                try await walk.from()
                try await walk.ledger.completes(try await walk.pays())
            },
            Way(name: "a payment fails") { walk in
                try await walk.from()
                try await walk.sends(try await walk.pays(), then: .failed)
            },
            Way(name: "a payment is unknown") { walk in
                try await walk.from()
                try await walk.sends(try await walk.pays(), then: .unknown)
            },
            Way(name: "a payment to a bank is accepted, with a free slot") { walk in
                _ = try await walk.ledger.banks(walk.payee, walk.payeeName)
                try await walk.from()
                try await walk.pays(50_000)
            },
            Way(name: "a payment reaches a bank") { walk in
                _ = try await walk.ledger.banks(walk.payee, walk.payeeName)
                try await walk.from()
                try await walk.ledger.completes(try await walk.pays(50_000))
            },
            Way(name: "a payment to a bank fails") { walk in
                _ = try await walk.ledger.banks(walk.payee, walk.payeeName)
                try await walk.from()
                try await walk.sends(try await walk.pays(50_000), then: .failed)
            },
            Way(name: "a payment to a bank switches to the wallet") { walk in
                let bank = try await walk.ledger.banks(walk.payee, walk.payeeName)
                try await walk.from()
                let payment = try await walk.pays(50_000)
                let removed = BeneficiaryRemoved(userID: walk.payee.uuid, beneficiaryID: bank)
                try await walk.ledger.hear(removed, about: walk.payee.uuid, sequence: 3)
                try await walk.ledger.completes(payment)
            },
        ]
    }

    // MARK: What comes back

    static var comingBack: [Way] {
        [
            Way(name: "a payment is taken back, and the payee has it") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a payment is taken back before it was known to have arrived") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.sends(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed)
            },
            Way(name: "a payment is taken back, and the payee has spent it") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.payeeSpends(600)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "money comes in for somebody who owes") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.payeeSpends(600)
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
                try await walk.from()
                walk.transfer = try await walk.ledger.funds(walk.payeeAccount, 1000)
            },
            Way(name: "a payment to a bank is taken back") { walk in
                _ = try await walk.ledger.banks(walk.payee, walk.payeeName)
                let payment = try await walk.pays(50_000)
                try await walk.ledger.completes(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
        ]
    }

    // MARK: Withdrawals

    static var withdrawals: [Way] {
        [
            Way(name: "a withdrawal is accepted") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                try await walk.from()
                try await walk.withdraws(to: bank)
            },
            Way(name: "a withdrawal reaches the bank") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                try await walk.from()
                try await walk.ledger.completes(try await walk.withdraws(to: bank))
            },
            Way(name: "a withdrawal fails") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                try await walk.from()
                try await walk.sends(try await walk.withdraws(to: bank), then: .failed)
            },
            Way(name: "a withdrawal is taken back") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                let withdrawal = try await walk.withdraws(to: bank)
                try await walk.ledger.completes(withdrawal)
                try await walk.from()
                try await walk.ledger.ends(withdrawal, .reversed, hasMoved: true)
            },
        ]
    }

    // MARK: From outside

    static var fromOutside: [Way] {
        [
            Way(name: "money comes in from outside") { walk in
                try await walk.from()
                walk.transfer = try await walk.ledger.funds(walk.payeeAccount, 1000)
            },
            Way(name: "money comes in for a frozen wallet") { walk in
                try await walk.ledger.sets(walk.payee, "credits_blocked = true")
                try await walk.from()
                walk.transfer = try await walk.ledger.funds(walk.payeeAccount, 1000)
            },
            Way(name: "money comes in above the ceiling") { walk in
                try await walk.ledger.sets(walk.payee, "tier = 1")
                try await walk.from()
                walk.transfer = try await walk.ledger.funds(walk.payeeAccount, 30_000_001)
            },
            Way(name: "money from outside is let out of suspense") { walk in
                let money = try await walk.waitsFromOutside()
                try await walk.from()
                try await walk.ledger.releases(money, .credit)
            },
            Way(name: "money from outside is sent back") { walk in
                let money = try await walk.waitsFromOutside()
                try await walk.from()
                try await walk.ledger.releases(money, .giveBack)
                walk.ledger.leaves(walk.payeeAccount, 1000)
            },
        ]
    }

    // MARK: Suspense

    static var suspense: [Way] {
        [
            Way(name: "a payee is frozen while a payment is on its way") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.sends(payment)
                try await walk.ledger.sets(walk.payee, "credits_blocked = true")
                try await walk.from()
                try await walk.ledger.ends(payment, .completed)
            },
            Way(name: "a payment is let out of suspense") { walk in
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.releases(payment, .credit)
            },
            Way(name: "a payment is taken back while it waits in suspense") { walk in
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a payment is taken back after it was let out of suspense") { walk in
                let payment = try await walk.waits()
                try await walk.ledger.releases(payment, .credit)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a payment is taken back after it was let out of suspense and spent") { walk in
                let payment = try await walk.waits()
                try await walk.ledger.releases(payment, .credit)
                try await walk.payeeSpends(600)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
        ]
    }
}
