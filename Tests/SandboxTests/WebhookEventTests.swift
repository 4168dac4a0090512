import AnchorClient
import Foundation
import Primitives
import Testing

@Suite("WebhookEvent reads what the provider sends")
struct WebhookEventTests {
    private func event(_ text: String) throws -> WebhookEvent { try WebhookEvent(parsing: text.utf8) }

    @Test("a transfer event, with and without wrapper", arguments: [true, false])
    func transfer(isWrapped: Bool) throws {
        let content = """
            {"id":"1-anc_et","type":"nip.transfer.failed","attributes":{"createdAt":"2026-01-02T03:04:05.123456",
            "failureReason":"INVALID_ACCOUNT","other":[1]},"relationships":{"transfer":{"data":{"id":"2-anc_trsf",
            "type":"NIP_TRANSFER"}},"documents":{"data":[]},"none":{"data":null}}}
            """
        let event = try self.event(isWrapped ? "{\"data\":\(content)}" : content)
        #expect(event.id == "1-anc_et")
        #expect(event.createdAt == Timestamp.parse("2026-01-02T03:04:05.123456Z"))
        guard case .transfer(let fact) = event.fact else {
            Issue.record("not a transfer")
            return
        }
        #expect(fact.transferID == "2-anc_trsf")
        #expect(fact.outcome == .failed)
        #expect(fact.rail == .nip)
        #expect(fact.failureReason == "INVALID_ACCOUNT")
        #expect(fact.reference == nil)
    }

    @Test("an id that could not be stored makes no event, and a link with one is none")
    func oddIDs() throws {
        let long = String(repeating: "a", count: 129)
        for id in [#"a\u0000b"#, "", "a b", #"\u00e9"#, long] {
            #expect(throws: WebhookEventError.self) { try self.event(#"{"id":"\#(id)","type":"account.opened"}"#) }
            #expect(throws: WebhookEventError.self) { try self.event(#"{"id":"1-anc_et","type":"\#(id)"}"#) }
            let linked = try self.event(
                #"{"id":"1-anc_et","type":"account.opened","relationships":{"account":{"data":{"id":"\#(id)"}}}}"#
            )
            #expect(linked.fact == .other)
        }
    }

    @Test("the reference comes from the included transfer, and prose is no failure reason")
    func included() throws {
        let event = try self.event(
            """
            {"data":{"id":"1-anc_et","type":"book.transfer.reversed","attributes":{"failureReason":"Sorry, Ada"},
            "relationships":{"transfer":{"data":{"id":"2-anc_trsf","type":"BOOK_TRANSFER"}}}},
            "included":[{"id":"2-anc_trsf","type":"BOOK_TRANSFER","attributes":{"reference":"our-ref"}}]}
            """
        )
        guard case .transfer(let fact) = event.fact else {
            Issue.record("not a transfer")
            return
        }
        #expect(fact.reference == "our-ref")
        #expect(fact.outcome == .reversed)
        #expect(fact.failureReason == nil)
    }

    @Test(
        "every identification outcome is known",
        arguments: ["approved", "rejected", "error", "manualReview", "reenter_information", "awaitingDocument"]
    )
    func identification(_ word: String) throws {
        let event = try self.event(
            """
            {"id":"1-anc_et","type":"customer.identification.\(word)",
            "relationships":{"resource":{"data":{"id":"3-anc_ind_cst"}}}}
            """
        )
        let outcome = try #require(WebhookEvent.IdentificationOutcome(rawValue: word))
        #expect(event.fact == .identification(customerID: "3-anc_ind_cst", outcome))
    }

    @Test("a rejected document is a fact about its customer, an approved one is none")
    func documents() throws {
        for (word, fact) in [
            ("rejected", WebhookEvent.Fact.documentRejected(customerID: "3-anc_bus_cst")), ("approved", .other),
        ] {
            let event = try self.event(
                """
                {"id":"1-anc_et","type":"document.\(word)","relationships":{"document":{"data":{"id":"2-anc_doc"}},
                "customer":{"data":{"id":"3-anc_bus_cst"}}}}
                """
            )
            #expect(event.fact == fact)
        }
    }

    @Test("a payment is named inline or by relationship")
    func payments() throws {
        let inline = try self.event(
            """
            {"id":"1-anc_et","type":"payment.settled","attributes":{"payment":{"paymentId":"9-anc_inb_trsf",
            "amount":5000,"counterParty":{"accountName":"Someone"},"settlementAccount":{"accountId":"4-anc_acc"}}}}
            """
        )
        let linked = try self.event(
            """
            {"data":{"id":"2-anc_et","type":"nip.inbound.received","attributes":{},"relationships":{
            "anything":{"data":{"id":"9-anc_inb_trsf"}},"account":{"data":{"id":"4-anc_acc"}}}}}
            """
        )
        guard case .payment(let first) = inline.fact, case .payment(let second) = linked.fact else {
            Issue.record("not payments")
            return
        }
        #expect(first.paymentID == second.paymentID)
        #expect(first.accountID == second.accountID)
        #expect(first.amount == Money(kobo: 5000))
        #expect([first.isSettled, second.isSettled] == [true, false])
    }

    @Test(
        "an unknown name and a known one without its id are events of no meaning",
        arguments: ["payin.received", "nip.transfer.successful", "account.opened", "nip.transfer.dancing"]
    )
    func unknown(_ type: String) throws {
        let event = try self.event("{\"id\":\"1-anc_et\",\"type\":\"\(type)\",\"attributes\":{\"createdAt\":7}}")
        #expect(event.fact == .other)
        #expect(event.type == type)
    }

    @Test("bytes that are no event are refused", arguments: ["", "[]", "{}", "{\"data\":{}}", "{\"id\":1}"])
    func refused(_ text: String) {
        #expect(throws: WebhookEventError.self) { try WebhookEvent(parsing: text.utf8) }
    }
}
