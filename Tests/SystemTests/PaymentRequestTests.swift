import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    @Suite struct PaymentRequestTests {
        @Test("Payment Request Flow: paid by link, fulfilled when the money has arrived, paid once under a race")
        func flow() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("asks")
            let bola = try await suite.person("pays", funding: 50_000)
            let chi = try await suite.person("paystoo", funding: 50_000)
            let asked = try await suite.ask(as: ada, PaymentRequestRequest(amount: 7000, description: "Dinner"))
            let path = "/payment-requests/\(asked.id.lowercased)"
            #expect(try await suite.read(path, as: bola, PaymentRequestResource.self).description == "Dinner")

            async let first = suite.order(path + "/pay", as: bola, PayRequestRequest())
            async let second = suite.order(path + "/pay", as: chi, PayRequestRequest())
            let answers = [try await first, try await second]
            #expect(answers.filter { $0.status == 202 }.count == 1)
            let refused = try #require(answers.first { $0.status != 202 })
            let refusal = try #require(refused.error?.code)
            #expect(["409 request_in_payment", "422 request_paid"].contains("\(refused.status) \(refusal)"))
            try await eventually("the request to be fulfilled", within: .seconds(40), every: .milliseconds(100)) {
                try await suite.read(path, as: ada, PaymentRequestResource.self).status == "fulfilled"
            }
            #expect(try await suite.wallet(ada).posted == 7000)
            #expect(try await suite.wallet(bola).posted + suite.wallet(chi).posted == 93_000)
            #expect(try await suite.read("/payment-requests", as: ada, PaymentRequestPage.self).data.count == 1)
            let today = LagosCalendar.day(of: Date())
            let days = "from=\(today.adding(days: -1))&to=\(today.adding(days: 1))"
            let entries = try await suite.read(
                "/transactions?type=p2p&state=completed&\(days)",
                as: ada,
                TransactionPage.self
            )
            #expect(entries.data.map(\.paymentRequestID) == [asked.id])
            let misspelt = try await suite.call("GET", .transaction, "/transactions?state=nonsense", as: ada.subject)
            #expect(misspelt.status == 400 && misspelt.error?.source?.parameter == "state")
            let long = "/transactions?to=\(today.adding(days: -2))"
            #expect(try await suite.read(long, as: ada, TransactionPage.self).data.isEmpty)
            #expect(try await suite.brokenInvariants() == [])
        }

        @Test("a request that names a person is seen, paid by username or declined by them alone; cancelled it is gone")
        func named() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("names")
            let bola = try await suite.person("named", funding: 50_000)
            let chi = try await suite.person("other", funding: 50_000)
            let order = PaymentRequestRequest(payerUsername: bola.username)
            let first = try await suite.ask(as: ada, order)
            let path = "/payment-requests/\(first.id.lowercased)"
            #expect(try await suite.call("GET", .transaction, path, as: chi.subject).status == 404)
            #expect(try await suite.order(path + "/pay", as: chi, PayRequestRequest(amount: 10)).status == 404)
            let list = try await suite.read("/payment-requests?direction=incoming", as: bola, PaymentRequestPage.self)
            #expect(list.data.map(\.id) == [first.id])
            let paid = P2PRequest(recipientUsername: ada.username, amount: 900, paymentRequestID: first.id)
            #expect(try await suite.order("/transactions/p2p", as: bola, paid).status == 202)

            let second = "/payment-requests/\(try await suite.ask(as: ada, order).id.lowercased)"
            #expect(try await suite.change(second + "/decline", as: chi).status == 404)
            #expect(try await suite.change(second + "/decline", as: bola).status == 204)
            #expect(try await suite.read(second, as: ada, PaymentRequestResource.self).status == "declined")
            let third = "/payment-requests/\(try await suite.ask(as: ada, order).id.lowercased)"
            #expect(try await suite.call("DELETE", .transaction, third, as: bola.subject).status == 404)
            #expect(try await suite.call("DELETE", .transaction, third, as: ada.subject).status == 204)
            #expect(try await suite.call("GET", .transaction, third, as: bola.subject).status == 404)
        }

        @Test("a sale is found by the reference that its owner gave it, by both sides and nobody else")
        func reference() async throws {
            let suite = try RunningSuite.current
            let shop = try await suite.person("sells")
            let bola = try await suite.person("buys")
            let sale = PaymentRequestRequest(amount: 100, payerUsername: bola.username, reference: "INV-2026/0042")
            let asked = try await suite.ask(as: shop, sale)
            _ = try await suite.ask(as: shop, PaymentRequestRequest(amount: 100, payerUsername: bola.username))
            #expect(asked.reference == "INV-2026/0042")
            let path = "/payment-requests?reference=INV-2026%2F0042"
            let sold = try await suite.read(path, as: shop, PaymentRequestPage.self)
            #expect(sold.data.map(\.id) == [asked.id] && sold.data.map(\.reference) == ["INV-2026/0042"])
            let bought = try await suite.read(path + "&direction=incoming", as: bola, PaymentRequestPage.self)
            #expect(bought.data.map(\.id) == [asked.id])
            #expect(try await suite.read(path, as: bola, PaymentRequestPage.self).data.isEmpty)
        }

        @Test("a withdrawal reaches one's own bank account, and nobody else's is taken")
        func withdrawal() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("withdraws", funding: 50_000)
            let bola = try await suite.person("stranger", funding: 50_000)
            try await suite.addBankAccount(of: ada)
            let sql = "SELECT id FROM beneficiaries WHERE user_id = '\(ada.id)'"
            let bank = try #require(UUID(text: try await suite.rows("transaction", sql)[0]))
            let order = SelfTransferRequest(beneficiaryID: bank, amount: 20_000)
            let refused = try await suite.order("/transactions/self-transfer", as: bola, order)
            #expect(refused.status == 422 && refused.error?.code == "beneficiary_unknown")
            #expect(refused.error?.source?.pointer == "/beneficiary_id")
            let quote = try await suite.order(
                "/transactions/quote",
                as: ada,
                QuoteRequest(type: "self_transfer", amount: 20_000)
            )
            #expect(try quote.decode(QuoteResponse.self).route == "external")
            let answer = try await suite.order("/transactions/self-transfer", as: ada, order)
            let taken = try answer.decode(SelfTransferResponse.self)
            #expect(answer.status == 202 && taken.beneficiaryID == bank)
            try await suite.await(taken.transactionID, "completed", within: .seconds(40))
            #expect(try await suite.wallet(ada).posted == 30_000)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}

extension RunningSuite {
    /// Asks for money.
    func ask(as owner: Person, _ request: PaymentRequestRequest) async throws -> PaymentRequestResource {
        let answer = try await self.change("/payment-requests", as: owner, Self.json(request))
        guard answer.status == 201 else { throw TestFailure("the request was answered \(answer.text)") }
        return try answer.decode(PaymentRequestResource.self)
    }
}
