import Foundation
import HTTPTypes
import Primitives
import ServiceKit
import Testing

@testable import TransactionService

@Suite("A money drop as a person asks for it")
struct MoneyDropDraftTests {
    private static func draft(
        each: Int64 = 100,
        slots: Int = 10,
        expires: String = "2026-11-21T01:07:05Z",
        title: String? = nil,
        password: String? = nil
    ) throws(FieldProblem) -> MoneyDropDraft {
        try MoneyDropDraft(
            amountPerClaim: each,
            slots: slots,
            expiresAt: expires,
            title: title,
            password: password
        )
    }

    @Test("its money is amount times slots")
    func total() throws {
        #expect(try Self.draft(each: 250, slots: 1000).total == Money(kobo: 250_000))
        #expect(try Self.draft(each: .max, slots: 1).total == Money(kobo: .max))
    }

    @Test("a total beyond the largest number is refused and does not wrap", arguments: [2, 1000])
    func overflow(_ slots: Int) throws {
        let problem = try #require(throws: FieldProblem.self) { try Self.draft(each: .max, slots: slots) }
        #expect(problem.pointer == "/amount_per_claim")
    }

    @Test("amounts and slots out of range are refused", arguments: [0, -1, Int.min, 1001, Int.max])
    func slots(_ slots: Int) throws {
        #expect(try #require(throws: FieldProblem.self) { try Self.draft(slots: slots) }.pointer == "/slots")
        let each = Int64(min(slots, 0))
        #expect(try #require(throws: FieldProblem.self) { try Self.draft(each: each) }.pointer == "/amount_per_claim")
    }

    @Test("what is no moment is refused as expiry", arguments: ["", "tomorrow", "2026-02-30T00:00:00Z", "1795223225"])
    func expiry(_ text: String) throws {
        #expect(try #require(throws: FieldProblem.self) { try Self.draft(expires: text) }.pointer == "/expires_at")
    }

    @Test("title and password keep to their rules")
    func texts() throws {
        #expect(try #require(throws: FieldProblem.self) { try Self.draft(title: "a\nb") }.pointer == "/title")
        #expect(try Self.draft(title: "").title == nil)
        let stacked = "abc" + String(repeating: "\u{301}", count: 62)
        #expect(throws: FieldProblem.self) { try MoneyDropDraft.checkLength(ofOffered: stacked) }
        for password in ["", "abc", String(repeating: "x", count: 65), stacked] {
            let problem = try #require(throws: FieldProblem.self) { try Self.draft(password: password) }
            #expect(problem.pointer == "/password")
        }
        #expect(try Self.draft(password: "pâte").password == "pâte")
    }

    @Test("what the ledger reads names every part, and no password but its hash")
    func details() throws {
        let drop = NewMoneyDrop(
            id: UUID(),
            draft: try Self.draft(each: 5, slots: 2, password: "sesame"),
            passwordHash: "scrypt$x",
            poolAccount: "pool-anc_acc",
            link: "https://transfa.app/d/1"
        )
        let text = try drop.details(quote: nil)
        let details = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        #expect(details["amount_per_claim"] as? Int == 5)
        #expect(details["slots"] as? Int == 2)
        #expect(details["expires_at"] as? String == "2026-11-21T01:07:05.000Z")
        #expect(details["pool_account"] as? String == "pool-anc_acc")
        #expect(details["link"] as? String == "https://transfa.app/d/1")
        #expect(details["password_hash"] as? String == "scrypt$x")
        #expect(!text.contains("sesame"))
    }
}

@Suite("A request for money as a person writes it")
struct PaymentRequestDraftTests {
    @Test("amount, person, text and time may all be left out")
    func empty() throws {
        let draft = try PaymentRequestDraft(amount: nil, payer: nil, description: nil, expiresAt: nil)
        #expect(draft.amount == nil && draft.payer == nil && draft.description == nil && draft.expiresAt == nil)
    }

    @Test("names are compared in lower case and without @")
    func name() throws {
        #expect(try PaymentRequestDraft(amount: 1, payer: "@Ada7", description: nil, expiresAt: nil).payer == "ada7")
    }

    @Test(
        "each field that breaks a rule is named",
        arguments: [
            (0, nil, nil, nil, "/amount"), (nil, "x", nil, nil, "/payer_username"),
            (nil, nil, "a\u{0}", nil, "/description"), (nil, nil, nil, "soon", "/expires_at"),
        ] as [(Int64?, String?, String?, String?, String)]
    )
    func refusals(_ amount: Int64?, _ payer: String?, _ text: String?, _ expiry: String?, _ pointer: String) throws {
        let problem = try #require(throws: FieldProblem.self) {
            try PaymentRequestDraft(amount: amount, payer: payer, description: text, expiresAt: expiry)
        }
        #expect(problem.pointer == pointer)
    }

    @Test("a reference is a number of a sale and no free text")
    func reference() throws {
        func draft(_ reference: String) throws -> PaymentRequestDraft {
            try PaymentRequestDraft(amount: 1, payer: nil, description: nil, reference: reference, expiresAt: nil)
        }
        let longest = String(repeating: "9", count: 40)
        for good in ["a", "INV-2026/0042", "till_3.17", longest] { #expect(try draft(good).reference == good) }
        for bad in ["", " ", "two words", "é", "a\n", "\u{661}", longest + "9"] {
            let problem = try #require(throws: FieldProblem.self) { try draft(bad) }
            #expect(problem.pointer == "/reference")
        }
    }

    @Test("it shows to its owner and the person named, or to whoever has the link; cancelled to nobody")
    func visibility() {
        let (owner, payer, other) = (UserID(UUID()), UserID(UUID()), UserID(UUID()))
        func request(_ payer: UserID?, _ state: String) -> PaymentRequest {
            PaymentRequest(
                id: UUID(),
                position: 1,
                owner: owner.uuid,
                payer: payer?.uuid,
                amount: nil,
                description: nil,
                link: "",
                reference: nil,
                image: nil,
                state: state,
                isMultiple: false,
                paidCount: 0,
                paidTotal: 0,
                transaction: nil,
                expiresAt: Date(),
                createdAt: Date()
            )
        }
        #expect([owner, payer, other].map { request(payer, "open").isVisible(to: $0) } == [true, true, false])
        #expect(request(nil, "fulfilled").isVisible(to: other))
        #expect([owner, payer, other].allSatisfy { !request(nil, "cancelled").isVisible(to: $0) })
    }
}

@Suite("Refusals of drops and requests")
struct RefusalTests {
    @Test("each word of the ledger has an answer that says why")
    func words() {
        for refusal in MoneyDropRefusal.allCases {
            let error = refusal.apiError
            let statuses = refusal == .recovering ? [503] : [403, 404, 409, 422]
            #expect(statuses.contains(error.status.code))
            #expect(error.code == refusal.rawValue || refusal == .unknown || error == .notOnboarded)
        }
        for refusal in PaymentRequestRefusal.allCases {
            let error = refusal.apiError
            #expect([403, 404, 409, 422, 429].contains(error.status.code))
            #expect(error.detail != nil || refusal == .unknown)
        }
    }

    @Test("what another try may change is not stored under the key: wrong passwords, restrictions, newcomers")
    func passing() {
        let passing: [MoneyDropRefusal] = [.passwordWrong, .claimantRestricted]
        #expect(passing.allSatisfy { $0.apiError.status == .forbidden })
        #expect(MoneyDropRefusal.claimantUnknown.apiError == .notOnboarded)
        #expect(MoneyDropRefusal.claimantNotReady.apiError == .notOnboarded)
        #expect(PaymentRequestRefusal.ownerNotReady.apiError == .notOnboarded)
        let often = PaymentRequestRefusal.askedTooOften.apiError
        #expect(often.status == .tooManyRequests && often.headers[.retryAfter] == "3600")
        #expect(DropPasswordProblem.tooMany(wait: 840).apiError.headers[.retryAfter] == "840")
        #expect(DropPasswordProblem.missing.apiError.status == .forbidden)
        let drops: [MoneyDropRefusal] = [.pending, .paused]
        let moments = drops.map(\.apiError) + [PaymentRequestRefusal.inPayment.apiError]
        #expect(moments.allSatisfy { $0.status == .conflict && $0.headers[.retryAfter] != nil })
    }

    @Test("a refusal is kept under the key when it will be so for ever, and no other is")
    func kept() {
        let drops: [MoneyDropRefusal] = [.own, .expired, .ended]
        let refused = MoneyDropRefusal.allCases.map(\.apiError).filter { $0.status == .unprocessableContent }
        #expect(refused.filter(\.isKept) == drops.map(\.apiError))
        let requests: [PaymentRequestRefusal] = [.payerSelf, .expired, .declined]
        let asked = PaymentRequestRefusal.allCases.map(\.apiError).filter { $0.status == .unprocessableContent }
        #expect(asked.filter(\.isKept) == requests.map(\.apiError))
        #expect(!DisputeRefusal.tooMany.apiError.isKept)
    }
}
