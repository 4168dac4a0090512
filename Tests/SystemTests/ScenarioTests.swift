import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// The stories that the product is judged by, each under its name, at the API.
    ///
    /// "Money Drop Full Cycle" is in `MoneyDropTests`, "Payment Request Flow" in `PaymentRequestTests`.
    @Suite struct ScenarioTests {
        @Test("Full Onboarding: sign up, complete KYC, and see a balance of zero")
        func fullOnboarding() async throws {
            let suite = try RunningSuite.current
            let person = try await suite.person("newhere")
            try await eventually("sign-up to be approved", within: .seconds(30), every: .milliseconds(100)) {
                try await suite.call("GET", .auth, "/onboarding/status", as: person.subject).text
                    .contains(#""status":"approved""#)
            }
            #expect(
                try await suite.wallet(person) == WalletResource(available: 0, posted: 0, held: 0, currency: "NGN")
            )
            let history = try await suite.read("/transactions", as: person, TransactionPage.self)
            #expect(history.data.isEmpty && history.nextCursor == nil)
        }

        @Test("P2P Transfer (External): a subscribed user receives a payment and it is routed externally")
        func external() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("payer", funding: 100_000)
            let payee = try await suite.person("subscriber")
            try await suite.addBankAccount(of: payee)
            try await suite.useFreeSlots(of: payee, from: payer)
            try await suite.subscribe(payee)

            let id = try await suite.pay(from: payer, to: payee, 4000)
            try await suite.await(id, "completed", within: .seconds(40))
            let seen = try await suite.read("/transactions/\(id.lowercased)", as: payee, TransactionResource.self)
            #expect(seen.route == "external" && seen.direction == "in")
            #expect(try await suite.takenByProvider(id) == ["NIP_TRANSFER"])
            #expect(try await suite.wallet(payee).posted == 0)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("P2P Transfer (Internal Reroute): without free transfers left the payment lands in the wallet")
        func rerouted() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("payer", funding: 100_000)
            let payee = try await suite.person("freeuser")
            try await suite.addBankAccount(of: payee)
            try await suite.useFreeSlots(of: payee, from: payer)

            let id = try await suite.pay(from: payer, to: payee, 4000)
            try await suite.await(id, "completed", within: .seconds(40))
            let seen = try await suite.read("/transactions/\(id.lowercased)", as: payee, TransactionResource.self)
            #expect(seen.route == "internal")
            #expect(try await suite.takenByProvider(id) == ["BOOK_TRANSFER"])
            #expect(try await suite.wallet(payee).posted == 4000)
            let told =
                "SELECT count(*) FROM outbox WHERE type = 'transfer.rerouted.internal' AND data LIKE"
                + " '%\(id.lowercased)%'"
            #expect(try await suite.number(told) == 1)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("Merchant Send Block: a merchant that only receives is refused, and nothing moves")
        func merchant() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("customer", funding: 50_000)
            let shop = try await suite.merchant("shop")
            let paid = try await suite.pay(from: payer, to: shop, 20_000)
            try await suite.await(paid, "completed", within: .seconds(40))
            try await suite.receiveOnly(shop)

            let refused = try await suite.pay(PaymentOrder(from: shop, to: payer.username, 1000))
            #expect(refused.status == 403)
            #expect(refused.error?.code == "receive_only")
            #expect(try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(shop.id)'") == 0)
            #expect(try await suite.wallet(shop).posted == 20_000)
            #expect(try await suite.wallet(shop).held == 0)
        }

        @Test("Biometric Approval Flow: without an approval nothing is sent, with one the payment goes")
        func approval() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("approves", funding: 50_000)
            let payee = try await suite.person("payee")
            // The person cancels the prompt: there is no signature to send along.
            var cancelled = try PaymentOrder(from: payer, to: payee.username, 1500)
            let approval = cancelled.approval
            cancelled.approval = nil
            let refused = try await suite.pay(cancelled)
            #expect(refused.status == 403 && refused.error?.code == "approval_required")
            #expect(try await suite.number("SELECT count(*) FROM transfers WHERE sender_id = '\(payer.id)'") == 0)
            #expect(
                try await suite.wallet(payer)
                    == WalletResource(available: 50_000, posted: 50_000, held: 0, currency: "NGN")
            )

            var approved = cancelled
            approved.approval = approval
            let answer = try await suite.pay(approved)
            #expect(answer.status == 202)
            let id = try answer.decode(P2PResponse.self).transactionID
            try await suite.await(id, "completed", within: .seconds(40))
            #expect(try await suite.acceptedByProvider(id) == 1)
            #expect(try await suite.wallet(payer).posted == 48_500)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Pays somebody with a bank account until their free transfers of the month are used up.
    func useFreeSlots(of payee: Person, from payer: Person) async throws {
        for _ in 0..<5 {
            let answer = try await self.pay(PaymentOrder(from: payer, to: payee.username, 1000))
            guard try answer.decode(P2PResponse.self).route == "external" else {
                throw TestFailure("a free transfer was not routed to the bank: \(answer.text)")
            }
        }
    }

    /// Switches sending off and waits until payments know of it.
    func receiveOnly(_ person: Person) async throws {
        let body = Array(#"{"allow_sending":false}"#.utf8)
        let answer = try await self.call("PUT", .customer, "/users/me/settings", as: person.subject, body: body)
        guard answer.status == 200 else { throw TestFailure("the setting was answered \(answer.text)") }
        let sql = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND NOT sending_allowed"
        try await eventually("transaction to know of the setting", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(sql) == 1
        }
    }

    /// Gives somebody the paid plan and waits until payments know of it.
    func subscribe(_ person: Person) async throws {
        let until = Timestamp.text(Date().addingTimeInterval(30 * 86_400))
        let body = #"{"user_id":"\#(person.id.lowercased)","plan":"plus","until":"\#(until)","reason":"a test"}"#
        let answer = try await self.operate("POST", "subscription", "/internal/subscriptions/activate", body)
        guard answer.status == 200 else { throw TestFailure("the plan was answered \(answer.text)") }
        let sql = "SELECT count(*) FROM users WHERE id = '\(person.id)' AND active_until > now()"
        try await eventually("transaction to know of the plan", within: .seconds(30), every: .milliseconds(100)) {
            try await self.number(sql) == 1
        }
    }
}
