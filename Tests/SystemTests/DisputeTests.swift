import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

extension Journeys {
    /// A person reports a problem with a transfer and hears what becomes of it.
    @Suite struct DisputeTests {
        @Test("a problem is reported once, read and answered by an operator, closed, and told of each time")
        func life() async throws {
            let suite = try RunningSuite.current
            let payer = try await suite.person("reports", funding: 20_000)
            let payee = try await suite.person("reported")
            let transfer = try await suite.pay(from: payer, to: payee, 1500)
            let path = "/transactions/\(transfer.lowercased)/disputes"
            let body = try RunningSuite.json(DisputeRequest(reason: "not_received", text: "Nothing has arrived"))
            let answer = try await suite.call("POST", .transaction, path, as: payer.subject, body: body)
            #expect(answer.status == 201)
            let dispute = try answer.decode(DisputeResource.self)
            #expect(dispute.state == "open" && dispute.text == "Nothing has arrived")
            let again = try await suite.call("POST", .transaction, path, as: payer.subject, body: body)
            #expect(again.status == 409 && again.error?.code == "dispute_open")
            #expect(try await suite.read(path, as: payee, DisputeList.self).data.isEmpty)

            let desk = "/internal/disputes/\(dispute.id.lowercased)"
            let list = try await suite.operate("GET", "transaction", "/internal/disputes").text
            #expect(list.contains(dispute.id.lowercased) && !list.contains("arrived"))
            let words = try await suite.operate("POST", "transaction", desk + "/read", #"{"reason":"to answer"}"#)
            #expect(words.status == 200 && words.text.contains("Nothing has arrived"))
            let reply = #"{"answer":"It is back","reason":"the bank says so"}"#
            #expect(try await suite.operate("POST", "transaction", desk + "/answer", reply).status == 200)
            let end = #"{"outcome":"refunded","reason":"done"}"#
            #expect(try await suite.operate("POST", "transaction", desk + "/close", end).status == 200)
            let late = try await suite.operate("POST", "transaction", desk + "/answer", reply)
            #expect(late.status == 409 && late.error?.code == "dispute_closed")

            let seen = try #require(try await suite.read(path, as: payer, DisputeList.self).data.first)
            #expect(seen.state == "closed" && seen.outcome == "refunded" && seen.answer == "It is back")
            let acts = "SELECT act FROM audit_log WHERE subject = '\(dispute.id.lowercased)' ORDER BY number"
            #expect(
                try await suite.rows("transaction", acts) == ["dispute.read", "dispute.answered", "dispute.closed"]
            )
            let told =
                "SELECT kind FROM notifications WHERE user_id = '\(payer.id)' AND kind LIKE 'dispute%' ORDER BY id"
            try await eventually("three messages", within: .seconds(30)) {
                try await suite.rows("notification", told) == ["dispute.opened", "dispute.answered", "dispute.closed"]
            }
            // Sealed, and nowhere else.
            let plain = "SELECT count(*) FROM disputes WHERE description LIKE '%arrived%' OR answer LIKE '%back%'"
            #expect(try await suite.number(plain) == 0)
            let said = "SELECT count(*) FROM outbox WHERE data LIKE '%arrived%' OR data LIKE '%It is back%'"
            #expect(try await suite.number(said) == 0)
        }
    }
}
