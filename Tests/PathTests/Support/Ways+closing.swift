import Contracts
import Foundation
import Postgres
import Primitives

@testable import TransactionService

extension Way {
    // MARK: Out of suspense by an order

    static var outOfSuspense: [Way] {
        [
            Way(name: "the return of a payment is ordered") { walk in
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.releases(payment, .giveBack)
            },
            Way(name: "a payment is returned out of suspense") { walk in
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.completes(try await walk.ledger.releases(payment, .giveBack))
            },
            Way(name: "the return of a payment fails") { walk in
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.sends(try await walk.ledger.releases(payment, .giveBack), then: .failed)
            },
            Way(name: "a payment is taken back after it was returned") { walk in
                let payment = try await walk.waits()
                try await walk.ledger.completes(try await walk.ledger.releases(payment, .giveBack))
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true, as: "break")
            },
            Way(name: "a request's payment is returned out of suspense") { walk in
                try await walk.asks()
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.completes(try await walk.ledger.releases(payment, .giveBack))
            },
        ]
    }

    // MARK: Closing

    static var closing: [Way] {
        [
            Way(name: "somebody with money is closed") { walk in
                try await walk.from()
                try await walk.ledger.closes(walk.payer)
            },
            Way(name: "somebody with an open drop is closed") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.ledger.closes(walk.payer)
                try await walk.ledger.completes(try await walk.refund())
            },
            Way(name: "a payment of somebody who was closed fails") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.sends(payment)
                try await walk.ledger.closes(walk.payer)
                try await walk.from()
                try await walk.ledger.ends(payment, .failed)
            },
            Way(name: "a payment of somebody who was closed is taken back") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.ledger.closes(walk.payer)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a payment to somebody who was closed meanwhile is taken back") { walk in
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.ledger.closes(walk.payee)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a closed person is paid out") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                try await walk.ledger.closes(walk.payer)
                try await walk.from()
                let money = try await walk.emptied()
                try await walk.ledger.completes(try await walk.ledger.releases(money, .payOut, to: bank))
            },
            Way(name: "the payout of a closed person is taken back") { walk in
                let bank = try await walk.ledger.banks(walk.payer, walk.payerName)
                try await walk.ledger.closes(walk.payer)
                let payout = try await walk.ledger.releases(try await walk.emptied(), .payOut, to: bank)
                try await walk.ledger.completes(payout)
                try await walk.from()
                try await walk.ledger.ends(payout, .reversed, hasMoved: true)
            },
        ]
    }
}
