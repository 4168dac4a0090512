import Foundation
import HTTPTypes
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Refusals of orders")
struct OrderRefusalTests {
    @Test("the database and the service know the same codes, and tell who is refused for a moment when to come again")
    func sameCodes() async throws {
        try await withTransaction { world in
            let text = "pg_get_functiondef('order_refusal'::regproc)"
            let rules = try await world.database.psql(
                "SELECT m[1] FROM regexp_matches(\(text), 'THEN ''(\\w+)''', 'g') m"
            )
            // Not a refusal: the answer is the one that was given before.
            let codes = Set(rules).subtracting(["idempotent_replay"])
            #expect(codes == Set(OrderRefusal.allCases.map(\.rawValue)))
            for refusal in OrderRefusal.allCases {
                let kinds = try await world.database.psql("SELECT refusal_kind('\(refusal.rawValue)')")
                let kind = try #require(kinds.first)
                #expect(["passing", "momentary", "lasting"].contains(kind), "\(refusal)")
                let error = refusal.apiError
                #expect((kind == "passing") == [409, 503].contains(error.status.code), "\(refusal)")
                #expect((kind == "passing") == (error.headers[.retryAfter] != nil), "\(refusal)")
            }
        }
    }

    @Test("each has a sentence of its own")
    func sentences() {
        let sentences = OrderRefusal.allCases.map { $0.apiError.detail ?? "" }
        #expect(Set(sentences).count == OrderRefusal.allCases.count && !sentences.contains(""))
        #expect(OrderRefusal.insufficientFunds.apiError.title == "Unprocessable Entity")
        #expect(OrderRefusal.receiveOnly.apiError.title == "Forbidden")
    }

    @Test("what the body names and is not there is 422 with its place; who has not arrived is told to come again")
    func unknownNames() {
        let places: [(OrderRefusal, String)] = [
            (.recipientUnknown, "/recipient_username"), (.requestUnknown, "/payment_request_id"),
            (.beneficiaryUnknown, "/beneficiary_id"),
        ]
        for (refusal, place) in places {
            let error = refusal.apiError
            #expect(error.status == .unprocessableContent && error.source == .pointer(place))
        }
        #expect(QuoteProblem.noRecipient.apiError.code == OrderRefusal.recipientUnknown.rawValue)
        #expect(QuoteProblem.noBeneficiary.apiError.source == .pointer("/beneficiary_id"))
        #expect(OrderRefusal.senderUnknown.apiError == .notOnboarded)
        let answer = OrderAnswer(outcome: .refused(OrderRefusal.senderUnknown.rawValue), isRepeated: false)
        #expect(throws: APIError.notOnboarded) { try answer.response() }
    }

    @Test("a code that only a newer version knows is that order's refusal, and nobody else's")
    func newerCode() throws {
        let answer = OrderAnswer(outcome: .refused("moon_too_full"), isRepeated: false)
        let response = try answer.response()
        #expect(response.status == .unprocessableContent)
        #expect(String(decoding: response.body, as: UTF8.self).contains(#""code":"moon_too_full""#))
    }

    @Test("what was answered before is answered again, refused or accepted, and marked")
    func repeated() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            let approval = world.ids.next()
            let refused = try await world.orders("bayo", 5000, key: "dear", nonce: approval)
            let again = try await world.orders("bayo", 5000, key: "dear", nonce: approval)
            #expect(again.outcome == refused.outcome && again.isRepeated && !refused.isRepeated)
            let first = try await world.orders("bayo", 100, key: "lunch")
            let second = try await world.orders("bayo", 100, key: "lunch")
            #expect(second.outcome == first.outcome && second.isRepeated && !first.isRepeated)
            #expect(try second.response().body == first.response().body)
            #expect(try second.response().headers[.idempotencyReplayed] == "true")
            let place = try first.response().headers[.location]
            #expect(place?.hasPrefix("/transactions/") == true)
            #expect(try second.response().headers[.location] == place)
        }
    }
}
