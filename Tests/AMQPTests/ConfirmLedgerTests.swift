import Testing

@testable import AMQP

@Suite("The ledger of confirms")
struct ConfirmLedgerTests {
    private func ledger(_ entries: [String]) -> ConfirmLedger<String> {
        var ledger = ConfirmLedger<String>()
        for entry in entries { ledger.published(entry) }
        return ledger
    }

    @Test("a single ack answers one publish, whatever the order")
    func single() throws {
        var ledger = self.ledger(["a", "b", "c"])
        #expect(try ledger.answered(tag: 2, multiple: false, accepted: true).map(\.entry) == ["b"])
        #expect(try ledger.answered(tag: 1, multiple: false, accepted: true).map(\.entry) == ["a"])
        #expect(ledger.openCount == 1)
        #expect(ledger.abandon() == ["c"])
    }

    @Test("an ack with multiple answers all before it that are open")
    func multiple() throws {
        var ledger = self.ledger(["a", "b", "c", "d"])
        _ = try ledger.answered(tag: 2, multiple: false, accepted: false)
        let answers = try ledger.answered(tag: 3, multiple: true, accepted: true)
        #expect(answers.map(\.entry) == ["a", "c"])
        #expect(answers.allSatisfy { $0.outcome.isConfirmed })
        #expect(ledger.abandon() == ["d"])
    }

    @Test("an ack of zero with multiple answers everything")
    func zero() throws {
        var ledger = self.ledger(["a", "b"])
        #expect(try ledger.answered(tag: 0, multiple: true, accepted: true).count == 2)
        #expect(ledger.openCount == 0)
        ledger.published("c")
        #expect(try ledger.answered(tag: 3, multiple: false, accepted: true).map(\.entry) == ["c"])
    }

    @Test("a nack is a rejection")
    func nack() throws {
        var ledger = self.ledger(["a"])
        let answers = try ledger.answered(tag: 1, multiple: false, accepted: false)
        guard case .rejected = answers.first?.outcome else {
            Issue.record("\(answers)")
            return
        }
    }

    @Test("a message that came back is returned, not confirmed, when its ack arrives")
    func returned() throws {
        var ledger = self.ledger(["a", "b", "b"])
        try ledger.returned(code: 312, text: "NO_ROUTE") { $0 == "b" }
        let answers = try ledger.answered(tag: 3, multiple: true, accepted: true)
        #expect(answers.map(\.outcome.isConfirmed) == [true, false, true])
        guard case .returned(code: 312, text: "NO_ROUTE") = answers[1].outcome else {
            Issue.record("\(answers[1].outcome)")
            return
        }
    }

    @Test("answers for what was not published, or twice, are violations")
    func violations() throws {
        var ledger = self.ledger(["a", "b"])
        #expect(throws: AMQPError.self) { try ledger.answered(tag: 3, multiple: false, accepted: true) }
        #expect(throws: AMQPError.self) { try ledger.answered(tag: 3, multiple: true, accepted: true) }
        _ = try ledger.answered(tag: 2, multiple: false, accepted: true)
        #expect(throws: AMQPError.self) { try ledger.answered(tag: 2, multiple: false, accepted: true) }
        _ = try ledger.answered(tag: 1, multiple: false, accepted: true)
        #expect(throws: AMQPError.self) { try ledger.answered(tag: 1, multiple: false, accepted: true) }
        #expect(throws: AMQPError.self) { try ledger.returned(code: 312, text: "") { _ in true } }
    }

    @Test("random answers settle each publish exactly once", arguments: 0..<50)
    func random(round: Int) throws {
        var ledger = ConfirmLedger<Int>()
        var open: Set<UInt64> = []
        var settled: [Int] = []
        var published = 0
        for _ in 0..<400 {
            if open.isEmpty || Bool.random() {
                published += 1
                ledger.published(published)
                open.insert(UInt64(published))
                continue
            }
            guard let tag = open.randomElement() else { continue }
            let multiple = Int.random(in: 0..<4) == 0
            settled += try ledger.answered(tag: tag, multiple: multiple, accepted: true).map(\.entry)
            open = multiple ? open.filter { $0 > tag } : open.subtracting([tag])
            #expect(ledger.openCount == open.count)
        }
        let lost = ledger.abandon()
        #expect(Set(lost) == Set(open.map(Int.init)))
        #expect(lost == lost.sorted())
        #expect((settled + lost).sorted() == Array(1...max(1, published)))
    }
}
