import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Faults {
    @Suite struct QuoteTests {
        @Test("an order keeps to its quote, which is of one person, one order and two minutes")
        func quote() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("quotes", funding: 50_000)
            let bola = try await suite.person("quoted", funding: 50_000)
            let asked = QuoteRequest(recipientUsername: "@\(bola.username.uppercased())", amount: 700)
            let answer = try await suite.order("/transactions/quote", as: ada, asked)
            let quote = try answer.decode(QuoteResponse.self)
            #expect(answer.status == 200 && quote.total == 700)

            let pays = { (payer: Person, amount: Int64, id: String) in
                let order = P2PRequest(recipientUsername: bola.username, amount: amount, quoteID: id)
                return try await suite.order("/transactions/p2p", as: payer, order)
            }
            let paid = try await pays(ada, 700, quote.quoteID)
            #expect(paid.status == 202)
            // Of another order, of another person, of nobody.
            let strange = String(quote.quoteID.reversed())
            let others: [(Person, Int64, String)] = [
                (ada, 701, quote.quoteID), (bola, 700, quote.quoteID), (ada, 700, strange),
            ]
            for (payer, amount, id) in others {
                let refused = try await pays(payer, amount, id)
                #expect(refused.status == 400 && refused.error?.source?.pointer == "/quote_id")
            }
            try await suite.setClocks(130)
            let late = try await pays(ada, 700, quote.quoteID)
            try await suite.setClocks(0)
            #expect(late.status == 422 && late.error?.code == "quote_expired")
            #expect(try await suite.wallet(ada).available == 49_300)
            #expect(try await suite.brokenInvariants() == [])
        }
    }
}
