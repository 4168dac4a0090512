import Foundation
import Primitives
import Testing

@Suite("Periods")
struct LagosPeriodTests {
    private let now = LagosCalendar.start(of: CivilDate(daysSince1970: 20_778))

    @Test("without ends it is the month so far, without a begin the month of the end")
    func missing() throws {
        let today = LagosCalendar.day(of: self.now)
        let month = try LagosPeriod(from: nil, to: nil, now: self.now)
        #expect(month.from == today.monthStart && month.to == today)
        let february = try LagosPeriod(from: nil, to: "2026-02-28", now: self.now)
        #expect(february.from.description == "2026-02-01" && february.to.description == "2026-02-28")
    }

    @Test(
        "a period that is none is refused",
        arguments: [
            ("2026-02-30", "2026-03-01", LagosPeriodProblem.from), ("2026-03-01", "yesterday", .to),
            ("2026-03-02", "2026-03-01", .order), ("2025-03-01", "2026-03-02", .length(366)),
        ]
    )
    func refused(from: String, to: String, problem: LagosPeriodProblem) {
        #expect(throws: problem) { try LagosPeriod(from: from, to: to, now: self.now) }
    }

    @Test("a year with both its ends is not too long")
    func year() throws {
        let year = try LagosPeriod(from: "2028-01-01", to: "2028-12-31", now: self.now)
        #expect(year.to.daysSince1970 - year.from.daysSince1970 == 365)
    }

    @Test("it begins with its first day in Lagos and ends where the next day begins")
    func moments() throws {
        let day = try LagosPeriod(from: "2026-11-21", to: "2026-11-21", now: self.now)
        #expect(Timestamp.text(day.begin) == "2026-11-20T23:00:00.000Z")
        #expect(Timestamp.text(day.end) == "2026-11-21T23:00:00.000Z")
    }
}
