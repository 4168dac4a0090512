import Foundation
import Primitives

@testable import TransactionService

extension Way {
    // MARK: Requests

    static var requests: [Way] {
        [
            Way(name: "a request is being paid") { walk in
                try await walk.asks()
                try await walk.from()
                try await walk.pays()
            },
            Way(name: "a request is paid") { walk in
                try await walk.asks()
                try await walk.from()
                try await walk.ledger.completes(try await walk.pays())
            },
            Way(name: "a request's payment fails") { walk in
                try await walk.asks()
                try await walk.from()
                try await walk.sends(try await walk.pays(), then: .failed)
            },
            Way(name: "a request's payment is taken back") { walk in
                try await walk.asks()
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a request's payment waits in suspense") { walk in
                try await walk.asks()
                try await walk.from()
                _ = try await walk.waits()
            },
            Way(name: "a request's payment is let out of suspense") { walk in
                try await walk.asks()
                let payment = try await walk.waits()
                try await walk.from()
                try await walk.ledger.releases(payment, .credit)
            },
            Way(name: "a request to many is paid") { walk in
                try await walk.asks(many: true)
                try await walk.from()
                try await walk.ledger.completes(try await walk.pays())
            },
            Way(name: "a payment of a request to many is taken back") { walk in
                try await walk.asks(many: true)
                let payment = try await walk.pays()
                try await walk.ledger.completes(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .reversed, hasMoved: true)
            },
            Way(name: "a payment of a request to many waits in suspense") { walk in
                try await walk.asks(many: true)
                try await walk.from()
                _ = try await walk.waits()
            },
        ]
    }

    // MARK: Others

    static var others: [Way] {
        [
            Way(name: "a plan is paid") { walk in
                try await walk.from()
                try await walk.isCharged(1000)
            },
            Way(name: "a payment is approved by a new phone") { walk in
                let phone = try await walk.newPhone()
                try await walk.from()
                try await walk.pays(approvedBy: phone)
            },
            Way(name: "a payment that a new phone approved fails") { walk in
                let phone = try await walk.newPhone()
                let payment = try await walk.pays(approvedBy: phone)
                try await walk.ledger.sends(payment)
                try await walk.from()
                try await walk.ledger.ends(payment, .failed)
            },
            Way(name: "the provider bills a payment to a bank") { walk in
                _ = try await walk.ledger.banks(walk.payee, walk.payeeName)
                let payment = try await walk.pays(50_000)
                try await walk.ledger.completes(payment)
                try await walk.from()
                try await walk.ledger.bills(walk.payerAccount, 50, for: payment)
            },
            Way(name: "a plan cannot be paid") { walk in
                try await walk.from()
                try await walk.isCharged(1_000_000)
            },
        ]
    }
}
