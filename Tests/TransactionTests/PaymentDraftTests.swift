import Primitives
import Testing

@testable import TransactionService

@Suite("A payment as a person asks for it")
struct PaymentDraftTests {
    @Test("the name may carry an @ and is compared in lower case")
    func recipient() throws {
        let draft = try PaymentDraft(recipient: "@Ada7", amount: 1, description: nil)
        #expect(draft.recipient == "ada7")
    }

    @Test(
        "malformed names are refused",
        arguments: ["", "@", "ab", "a b c", "ädalovelace", "a_b_c", String(repeating: "a", count: 21)]
    )
    func malformed(_ name: String) {
        #expect(throws: PaymentProblem.recipientMalformed) {
            try PaymentDraft(recipient: name, amount: 1, description: nil)
        }
    }

    @Test("zero and negative amounts are refused", arguments: [0, -1, Int64.min])
    func amounts(_ amount: Int64) {
        #expect(throws: PaymentProblem.amountNotPositive) {
            try PaymentDraft(recipient: "ada", amount: amount, description: nil)
        }
    }

    @Test("the largest amount that exists is carried unharmed")
    func largest() throws {
        #expect(try PaymentDraft(recipient: "ada", amount: .max, description: nil).amount == Money(kobo: .max))
    }

    @Test("a description has at most 140 code points, however few characters people see in them")
    func description() throws {
        let flags = String(repeating: "🇳🇬", count: 70)
        #expect(try PaymentDraft(recipient: "ada", amount: 1, description: flags).description == flags)
        for text in [flags + "x", "e" + String(repeating: "\u{301}", count: 30_000)] {
            #expect(throws: PaymentProblem.descriptionTooLong) {
                try PaymentDraft(recipient: "ada", amount: 1, description: text)
            }
        }
    }

    @Test("control and invisible characters are refused", arguments: ["a\u{0}b", "a\nb", "a\u{202E}b"])
    func invisible(_ text: String) {
        #expect(throws: PaymentProblem.descriptionNotPrintable) {
            try PaymentDraft(recipient: "ada", amount: 1, description: text)
        }
    }

    @Test("an empty description is none")
    func empty() throws {
        #expect(try PaymentDraft(recipient: "ada", amount: 1, description: "").description == nil)
    }
}
