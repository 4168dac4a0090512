import Foundation
import Postgres
import Primitives

@testable import TransactionService

extension Way {
    // MARK: Drops

    static var drops: [Way] {
        [
            Way(name: "a drop is ordered") { walk in
                try await walk.from()
                try await walk.makesDrop()
            },
            Way(name: "a drop opens") { walk in
                try await walk.from()
                try await walk.ledger.completes(try await walk.makesDrop())
            },
            Way(name: "a drop's money fails to come") { walk in
                try await walk.from()
                try await walk.sends(try await walk.makesDrop(), then: .failed)
            },
            Way(name: "a slot is claimed") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.claims()
            },
            Way(name: "a claim arrives") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.ledger.completes(try await walk.claims())
            },
            Way(name: "a claim fails") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.sends(try await walk.claims(), then: .failed)
            },
            Way(name: "a claimant is frozen while a claim is on its way") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                let claim = try await walk.claims()
                try await walk.ledger.sends(claim)
                try await walk.ledger.sets(walk.payee, "credits_blocked = true")
                try await walk.from()
                try await walk.ledger.ends(claim, .completed)
            },
            Way(name: "a drop is ended and comes back") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.ledger.completes(try await walk.endsDrop())
            },
            Way(name: "a drop runs out after a claim and comes back") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.ledger.completes(try await walk.claims())
                try await walk.from()
                try await walk.ledger.completes(try await walk.runsOut())
            },
            Way(name: "a drop's refund fails") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                try await walk.from()
                try await walk.sends(try await walk.endsDrop(), then: .failed)
            },
        ]
    }

    static var dropsComingBack: [Way] {
        [
            Way(name: "a drop's money is taken back, and nothing was claimed") { walk in
                let funding = try await walk.makesDrop()
                try await walk.ledger.completes(funding)
                try await walk.from()
                try await walk.ledger.ends(funding, .reversed, hasMoved: true)
            },
            Way(name: "a drop's money is taken back after a claim") { walk in
                let funding = try await walk.makesDrop()
                try await walk.ledger.completes(funding)
                try await walk.ledger.completes(try await walk.claims())
                try await walk.from()
                try await walk.ledger.ends(funding, .reversed, hasMoved: true)
            },
            Way(name: "a drop's money is taken back while its refund waits to be sent") { walk in
                let funding = try await walk.makesDrop()
                try await walk.ledger.completes(funding)
                _ = try await walk.endsDrop()
                try await walk.from()
                try await walk.ledger.ends(funding, .reversed, hasMoved: true)
            },
            Way(name: "a drop's money is taken back while a claim waits to be sent") { walk in
                let funding = try await walk.makesDrop()
                try await walk.ledger.completes(funding)
                try await walk.claims()
                try await walk.from()
                try await walk.ledger.ends(funding, .reversed, hasMoved: true)
            },
            Way(name: "a claim is taken back") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                let claim = try await walk.claims()
                try await walk.ledger.completes(claim)
                try await walk.from()
                try await walk.ledger.ends(claim, .reversed, hasMoved: true)
            },
            Way(name: "a drop's refund is taken back") { walk in
                try await walk.ledger.completes(try await walk.makesDrop())
                let refund = try await walk.endsDrop()
                try await walk.ledger.completes(refund)
                try await walk.from()
                try await walk.ledger.ends(refund, .reversed, hasMoved: true)
            },
        ]
    }
}
