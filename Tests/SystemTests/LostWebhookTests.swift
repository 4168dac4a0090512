import Contracts
import Foundation
import TestSupport
import Testing

extension Faults {
    /// What the provider has done and has not told, or tells too late or in another form.
    @Suite struct LostWebhookTests {
        @Test("when every webhook is lost, people are verified, get wallets and money, and pay each other all the same")
        func allLost() async throws {
            let suite = try RunningSuite.current
            try await suite.withSwitches(#""webhooksEnabled":false"#) {
                let names = ["lostada", "lostbola"]
                let signedUp = try await suite.signUpUnheard(names)
                let payer = signedUp[0]
                let payee = signedUp[1]
                let path = "/sandbox/accounts/\(payer.accountNumber)/fund"
                #expect(try await suite.sandbox("POST", path, #"{"amount":9000}"#).status == 201)
                try await suite.leap("the money to be found") { try await suite.wallet(payer).posted == 9000 }
                let id = try await suite.pay(from: payer, to: payee, 4000)
                try await suite.leap("the payment to be completed") { try await suite.state(id) == "completed" }
                #expect(try await suite.wallet(payer).posted == 5000)
                #expect(try await suite.wallet(payee).posted == 4000)
                // It had been found by asking, and asking again finds nothing new.
                let found = "SELECT count(*) FROM inbound_payments WHERE user_id = '\(payer.id)'"
                #expect(try await suite.number(found, of: "account") == 1)
                #expect(try await suite.number(found) == 1)
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("webhooks that come long after the outcome was found by asking change nothing")
        func late() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("late", funding: 20_000)
            let payee = try await suite.person("payee")
            try await suite.addBankAccount(of: payee)
            let before = try await suite.webhooksMade()
            try await suite.withSwitches(#""webhooksEnabled":false"#) {
                for number in 0..<3 { _ = try await suite.pay(from: payer, to: payee, 1000 + Int64(number)) }
                let path = "/sandbox/accounts/\(payer.accountNumber)/fund"
                #expect(try await suite.sandbox("POST", path, #"{"amount":500,"events":"both"}"#).status == 201)
                try await suite.leap("all to be found") {
                    let open = try await suite.openTransfers(of: payer)
                    return try await suite.wallet(payer).posted == 20_500 - 3003 && open == 0
                }
            }
            let mine = "(SELECT id FROM transfers WHERE '\(payer.id)' IN (sender_id, recipient_id))"
            let steps = "SELECT count(*) FROM transfer_steps WHERE transfer_id IN \(mine)"
            let stepsBefore = try await suite.number(steps)
            let lost = try await suite.webhooksMade().subtracting(before)
            #expect(lost.count >= 3 + 4)
            for id in lost {
                #expect(try await suite.sandbox("POST", "/sandbox/webhooks/\(id)/resend").status == 200)
            }
            try await eventually("all webhooks to be taken", within: .seconds(30), every: .milliseconds(200)) {
                let ids = lost.map { "'\($0)'" }.joined(separator: ",")
                let taken = "SELECT count(*) FROM webhooks WHERE event_id IN (\(ids))"
                return try await suite.number(taken, of: "notification") == lost.count
            }
            try await suite.quiet()
            #expect(try await suite.number(steps) == stepsBefore)
            #expect(try await suite.wallet(payer).posted == 20_500 - 3003)
            #expect(try await suite.number("SELECT count(*) FROM breaks WHERE transfer_id IN \(mine)") == 0)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("webhooks in either form tell the same", arguments: [true, false])
        func form(wrapped: Bool) async throws {
            let suite = try RunningSuite.current
            try await suite.withSwitches(#""webhookWrapped":\#(wrapped)"#) {
                let payer = try await suite.person("form", funding: 20_000)
                let payee = try await suite.person("payee")
                try await suite.addBankAccount(of: payee)
                let id = try await suite.pay(from: payer, to: payee, 1500)
                try await suite.await(id, "completed", within: .seconds(15))
                // By a message: the first question about a transfer comes only after twenty seconds.
                let evidence = "SELECT evidence LIKE 'webhook:%' FROM transfer_steps"
                let last = " WHERE transfer_id = '\(id)' AND state = 'completed'"
                #expect(try await suite.rows("transaction", evidence + last) == ["t"])
                #expect(try await suite.wallet(payer).posted == 18_500)
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("webhooks that are forged or altered on the way are refused, and the truth is found by asking")
        func spoiled() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("spoiled", funding: 20_000)
            let payee = try await suite.person("payee")
            for spoil in ["webhookForged", "webhookAltered"] {
                try await suite.quiet()
                let stored = try await suite.number("SELECT count(*) FROM webhooks", of: "notification")
                let before = try await suite.wallet(payer).posted
                try await suite.withSwitches(#""\#(spoil)":true"#) {
                    let id = try await suite.pay(from: payer, to: payee, 700)
                    try await suite.leap("the payment to be completed") { try await suite.state(id) == "completed" }
                    let taken = try await suite.number("SELECT count(*) FROM webhooks", of: "notification")
                    #expect(taken == stored)
                    let evidence = "SELECT evidence LIKE 'query:%' FROM transfer_steps"
                    let last = " WHERE transfer_id = '\(id)' AND state = 'completed'"
                    #expect(try await suite.rows("transaction", evidence + last) == ["t"])
                }
                #expect(try await suite.wallet(payer).posted == before - 700)
            }
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("money that the provider tells of under two ids is credited once")
        func twins() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("twins")
            let path = "/sandbox/accounts/\(person.accountNumber)/fund"
            #expect(try await suite.sandbox("POST", path, #"{"amount":2500,"events":"twin"}"#).status == 201)
            let read = """
                SELECT count(*) FROM jobs WHERE kind = 'read_payment' AND state = 'done' AND key IN
                    (SELECT split_part(provider_payment_id, '-', 1) || ending FROM inbound_payments,
                        unnest(ARRAY['-anc_py', '-anc_inb_trsf']) AS ending WHERE user_id = '\(person.id)')
                """
            try await eventually("both to be read", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.number(read, of: "account") == 2
            }
            try await suite.quiet()
            #expect(try await suite.wallet(person).posted == 2500)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Signs people up while no message of the provider arrives: what it did is found by asking, minutes later.
    fileprivate func signUpUnheard(_ names: [String]) async throws -> [Person] {
        try await withThrowingTaskGroup(of: (Int, Person)?.self) { group in
            for (number, name) in names.enumerated() {
                group.addTask { (number, try await self.person(name)) }
            }
            group.addTask {
                // Until all are there; what waits for minutes goes on at every leap.
                for leap in 1...60 {
                    try await Task.sleep(for: .seconds(1))
                    try await self.setClocks(leap * 60)
                }
                return nil
            }
            var people: [(Int, Person)] = []
            while people.count < names.count {
                guard let finished = try await group.next() else { break }
                guard let finished else { throw TestFailure("nobody was verified in an hour") }
                people.append(finished)
            }
            group.cancelAll()
            try? await group.waitForAll()
            try await self.setClocks(0)
            return people.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private struct WebhookLog: Decodable {
        struct Entry: Decodable {
            let id: String
        }

        let entries: [Entry]
        let next: Int
        let total: Int
    }

    /// The ids of all events that the provider has made so far, delivered or lost.
    fileprivate func webhooksMade() async throws -> Set<String> {
        var ids: Set<String> = []
        var position = 0
        while true {
            let path = "/sandbox/log?type=webhook&limit=1000&after=\(position)"
            let page = try await self.sandbox("GET", path).decode(WebhookLog.self)
            ids.formUnion(page.entries.map(\.id))
            guard page.next > position, page.next < page.total else { return ids }
            position = page.next
        }
    }
}
