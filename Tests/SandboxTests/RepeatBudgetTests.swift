import AnchorClient
import Foundation
import Testing

@Suite("What may be asked of the provider again")
struct RepeatBudgetTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func taken(_ budget: inout RepeatBudget, of wanted: Int, at now: Date) -> Int {
        (0..<wanted).count { _ in budget.take(at: now) }
    }

    @Test("what was saved is used up, then a trickle flows")
    func trickle() {
        var budget = RepeatBudget(.init(share: 0.5, perSecond: 20, saved: 200), at: self.start)
        #expect(self.taken(&budget, of: 1000, at: self.start) == 200)
        #expect(self.taken(&budget, of: 1000, at: self.start + 1) == 20)
        #expect(self.taken(&budget, of: 1000, at: self.start + 1) == 0)
        // No more is saved than that, however long it takes.
        #expect(self.taken(&budget, of: 1000, at: self.start + 3600) == 200)
    }

    @Test("first calls earn their share of repeats")
    func share() {
        var budget = RepeatBudget(.init(share: 0.5, perSecond: 0, saved: 200), at: self.start)
        #expect(self.taken(&budget, of: 200, at: self.start) == 200)
        for _ in 0..<100 { budget.noteFirst(at: self.start) }
        #expect(self.taken(&budget, of: 1000, at: self.start) == 50)
    }

    @Test("a clock that is set back earns nothing, and time goes on from there")
    func clock() {
        var budget = RepeatBudget(.init(share: 0, perSecond: 10, saved: 100), at: self.start)
        #expect(self.taken(&budget, of: 100, at: self.start) == 100)
        #expect(self.taken(&budget, of: 10, at: self.start - 3600) == 0)
        #expect(self.taken(&budget, of: 100, at: self.start - 3599) == 10)
    }
}
