import Contracts
import Foundation
import Primitives
import Testing

@testable import AnalyticsService

@Suite("Periods")
struct PeriodTests {
    private let now = LagosCalendar.start(of: CivilDate(daysSince1970: 20_778))

    private func days(_ from: String, _ to: String) throws -> LagosPeriod {
        try LagosPeriod(from: from, to: to, now: self.now)
    }

    @Test("buckets are days, weeks from Monday to Sunday or months, cut at both ends")
    func buckets() throws {
        // 2026-11-21 is a Saturday.
        let period = try self.days("2026-10-30", "2026-11-21")
        let weeks = period.buckets(by: .week).map { "\($0.from) \($0.to)" }
        #expect(
            weeks == [
                "2026-10-30 2026-11-01", "2026-11-02 2026-11-08", "2026-11-09 2026-11-15", "2026-11-16 2026-11-21",
            ]
        )
        let months = period.buckets(by: .month).map { "\($0.from) \($0.to)" }
        #expect(months == ["2026-10-30 2026-10-31", "2026-11-01 2026-11-21"])
        #expect(period.buckets(by: .day).count == 23)
        let before1970 = try self.days("1969-12-20", "1970-01-06").buckets(by: .week).map(\.to.description)
        #expect(before1970 == ["1969-12-21", "1969-12-28", "1970-01-04", "1970-01-06"])
    }

    @Test(
        "the buckets of any step add up to the days, and those of nothing are there",
        arguments: LagosPeriod.Step.allCases
    )
    func sums(step: LagosPeriod.Step) throws {
        let period = try self.days("2026-01-31", "2026-12-31")
        let first = period.from.daysSince1970
        let days = Dictionary(
            uniqueKeysWithValues: (0..<335).filter { $0 % 3 == 0 }.map {
                (CivilDate(daysSince1970: first + $0), Totals(moneyOut: Money(kobo: Int64($0 + 1))))
            }
        )
        let series = try period.series(by: step, of: days)
        #expect(series.reduce(0) { $0 + $1.moneyOut } == days.values.reduce(0) { $0 + $1.moneyOut.kobo })
        #expect(series.first?.from == "2026-01-31" && series.last?.to == "2026-12-31")
        #expect(series.count == [.day: 335, .week: 49, .month: 12][step])
    }
}
