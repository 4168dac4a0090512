import Foundation
import Testing

@testable import TransactionService

@Suite("The provider's books next to ours")
struct BookComparisonTests {
    private static let moment = Date(timeIntervalSince1970: 1_790_000_000)

    private func ours(
        _ reference: String,
        _ state: String,
        _ amount: Int64,
        id: String? = nil,
        isOutgoing: Bool = true
    ) -> OurBooks.Transfer {
        OurBooks.Transfer(
            reference: reference,
            providerID: id,
            state: state,
            amount: amount,
            isOutgoing: isOutgoing,
            createdAt: Self.moment
        )
    }

    private func theirs(
        _ id: String,
        _ reference: String,
        _ status: TheirBooks.Status,
        _ amount: Int64,
        from source: String? = "here",
        isOutgoing: Bool = true
    ) -> TheirBooks.Transfer {
        TheirBooks.Transfer(
            id: id,
            reference: reference,
            status: status,
            amount: amount,
            isOutgoing: isOutgoing,
            source: source,
            createdAt: Self.moment
        )
    }

    private func books(
        _ transfers: [OurBooks.Transfer] = [],
        _ payments: [(String, Int64)] = [],
        expected: Int64,
        leaving: Int64 = 0,
        arriving: Int64 = 0
    ) -> OurBooks {
        OurBooks(
            transfers: transfers,
            payments: payments.map { OurBooks.Payment(id: $0.0, amount: $0.1, receivedAt: Self.moment) },
            expected: expected,
            leaving: leaving,
            arriving: arriving
        )
    }

    private func there(
        _ transfers: [TheirBooks.Transfer] = [],
        _ payments: [(String, Int64)] = [],
        ledger: Int64,
        pending: Int64 = 0
    ) -> TheirBooks {
        TheirBooks(
            transfers: transfers,
            payments: payments.map { TheirBooks.Payment(id: $0.0, amount: $0.1, paidAt: Self.moment) },
            ledger: ledger,
            pending: pending
        )
    }

    /// What differs, as `kind key`.
    private func found(
        _ theirs: TheirBooks,
        _ before: OurBooks,
        _ after: OurBooks? = nil,
        reconciled: Set<String> = []
    ) -> [String] {
        BookComparison.differences(of: theirs, from: before, to: after ?? before, reconciled: reconciled)
            .map { "\($0.kind.rawValue) \($0.key)" }.sorted()
    }

    @Test("books that agree differ in nothing")
    func agreeing() {
        let mine = self.books([self.ours("a", "completed", 300, id: "1")], [("7-anc_py", 1000)], expected: 700)
        #expect(
            self.found(
                self.there([self.theirs("1", "a", .completed, 300)], [("7-anc_inb_trsf", 1000)], ledger: 700),
                mine
            ).isEmpty
        )
    }

    @Test(
        "what is under way explains as much as it can move and no more",
        arguments: [(700, true), (1000, true), (699, false), (1001, false)]
    )
    func underWay(ledger: Int64, agrees: Bool) {
        let mine = self.books([self.ours("a", "submitted", 300)], expected: 1000, leaving: 300)
        let found = self.found(self.there([self.theirs("1", "a", .open, 300)], ledger: ledger), mine)
        #expect(found == (agrees ? [] : ["balance balance"]))
    }

    @Test("what ended between the readings agrees with one of them")
    func moving() {
        let before = self.books([self.ours("a", "submitted", 300)], expected: 1000, leaving: 300)
        let after = self.books([self.ours("a", "completed", 300)], expected: 700)
        for (status, ledger) in [(TheirBooks.Status.open, 1000), (.completed, 700)] as [(TheirBooks.Status, Int64)] {
            #expect(self.found(self.there([self.theirs("1", "a", status, 300)], ledger: ledger), before, after).isEmpty)
        }
        // Ordered after they were asked.
        #expect(self.found(self.there(ledger: 1000), self.books(expected: 1000), after).isEmpty)
    }

    @Test("a transfer there that we do not know is one difference, and explains the balance")
    func unknown() {
        let row = self.theirs("9", "not-ours", .completed, 250)
        #expect(self.found(self.there([row], ledger: 750), self.books(expected: 1000)) == ["missing_with_us 9"])
        #expect(
            self.found(self.there([row], ledger: 700), self.books(expected: 1000))
                == ["balance balance", "missing_with_us 9"]
        )
    }

    @Test("what is listed is explained as far as it is in no difference, each transfer where its payer is")
    func explained() {
        let mine = self.books(
            [self.ours("a", "completed", 300), self.ours("b", "failed", 20)],
            [("7-anc_py", 1000)],
            expected: 700
        )
        let rows = [
            self.theirs("1", "a", .completed, 300), self.theirs("2", "b", .completed, 20),
            self.theirs("3", "not-ours", .completed, 5), self.theirs("4", "refused", .failed, 4000),
            self.theirs("5", "shown-there", .completed, 60, from: "there", isOutgoing: false),
        ]
        let theirs = self.there(rows, [("7-anc_inb_trsf", 1000), ("8-anc_inb_trsf", 70)], ledger: 0)
        let differences = BookComparison.differences(of: theirs, from: mine, to: mine, reconciled: ["there"])
        let explained = ExplainedMoney(theirs, but: differences, reconciled: ["there"])
        #expect([explained.listed, explained.matched] == [1395, 1300])
    }

    @Test("a transfer taken twice under one reference is ours once")
    func twice() {
        let mine = self.books([self.ours("a", "completed", 300, id: "2")], expected: 700)
        let rows = [self.theirs("1", "a", .completed, 300), self.theirs("2", "a", .completed, 300)]
        #expect(self.found(self.there(rows, ledger: 400), mine) == ["missing_with_us 1"])
    }

    @Test("an amount, a state and a transfer that is not there are each one difference")
    func contradictions() {
        let mine = self.books(
            [self.ours("a", "completed", 300), self.ours("b", "failed", 200), self.ours("c", "completed", 100)],
            expected: 600
        )
        let rows = [self.theirs("1", "a", .completed, 350), self.theirs("2", "b", .completed, 200)]
        #expect(
            self.found(self.there(rows, ledger: 450), mine) == ["missing_there c", "other_amount a", "other_state b"]
        )
    }

    @Test("payments that were lost, invented or changed are each one difference")
    func payments() {
        let mine = self.books([], [("1-anc_py", 100), ("2-anc_py", 200)], expected: 300)
        let rows: [(String, Int64)] = [("1-anc_inb_trsf", 150), ("3-anc_inb_trsf", 400)]
        #expect(
            self.found(self.there([], rows, ledger: 550), mine)
                == ["missing_there 2-anc_py", "missing_with_us 3-anc_inb_trsf", "other_amount 1-anc_py"]
        )
    }

    @Test("what an account is paid is shown by the payer's look, unless nobody looks there")
    func incoming() {
        let row = self.theirs("5", "x", .completed, 400, from: "other", isOutgoing: false)
        let mine = self.books(expected: 1000)
        #expect(self.found(self.there([row], ledger: 1400), mine, reconciled: ["other"]).isEmpty)
        #expect(self.found(self.there([row], ledger: 1400), mine) == ["missing_with_us 5"])
        let known = self.books([self.ours("y", "completed", 400, isOutgoing: false)], expected: 1400)
        let reversed = self.theirs("6", "y", .reversed, 400, from: "other", isOutgoing: false)
        #expect(self.found(self.there([reversed], ledger: 1000), known, reconciled: ["other"]).isEmpty)
    }

    @Test("a bill that is booked while one looks hides no other kobo")
    func bills() {
        let before = self.books(expected: 1000)
        var after = self.books(expected: 950)
        after.billed = 50
        let found = { (ledger: Int64) in
            BookComparison.differences(of: self.there(ledger: ledger), from: before, to: after, reconciled: [])
                .map(\.kind)
        }
        #expect(found(950) == [])
        #expect(found(980) == [.balance])
        #expect(found(1000) == [.balance])
    }
}
