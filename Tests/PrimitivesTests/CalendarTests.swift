import Foundation
import Primitives
import Testing

@Suite("Days and moments")
struct CalendarTests {
    @Test(
        "the day in Lagos changes at 23:00 UTC",
        arguments: [
            ("2026-11-21T22:59:59.999Z", "2026-11-21"), ("2026-11-21T23:00:00Z", "2026-11-22"),
            ("2026-11-30T22:59:59Z", "2026-11-30"), ("2026-11-30T23:00:00Z", "2026-12-01"),
            ("2026-12-31T23:00:00Z", "2027-01-01"), ("2028-02-28T23:00:00Z", "2028-02-29"),
            ("1969-12-31T22:59:59Z", "1969-12-31"), ("1969-12-31T23:00:00Z", "1970-01-01"),
        ]
    )
    func lagosDays(_ moment: String, _ day: String) throws {
        let date = try #require(Timestamp.parse(moment))
        #expect(LagosCalendar.day(of: date).description == day)
    }

    @Test("a month in Lagos begins at 23:00 UTC of the last day before it")
    func lagosMonths() throws {
        let last = try #require(Timestamp.parse("2026-11-30T22:59:59Z"))
        let first = try #require(Timestamp.parse("2026-11-30T23:00:00Z"))
        #expect(LagosCalendar.monthStart(of: last).description == "2026-11-01")
        #expect(LagosCalendar.monthStart(of: first).description == "2026-12-01")
        #expect(LagosCalendar.monthBounds(of: last).upperBound == first)
        #expect(LagosCalendar.monthBounds(of: first).lowerBound == first)
        #expect(LagosCalendar.dayBounds(of: first).lowerBound == first)
    }

    @Test("every day of 800 years agrees with Foundation's calendar")
    func daysAgree() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        // 1600 to 2400: two full cycles of leap years.
        for days in stride(from: -135_140, through: 157_054, by: 13) {
            let date = CivilDate(daysSince1970: days)
            let parts = calendar.dateComponents(
                [.year, .month, .day],
                from: Date(timeIntervalSince1970: Double(days) * 86_400)
            )
            #expect(date.year == parts.year && date.month == parts.month && date.day == parts.day)
            #expect(date.daysSince1970 == days)
        }
    }

    @Test("dates order as their texts do, and read back")
    func dateText() {
        let dates = (0..<2000).map { CivilDate(daysSince1970: 20_000 + $0) }
        #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 < $1 && $0.description < $1.description })
        #expect(dates.allSatisfy { CivilDate(text: $0.description) == $0 })
        #expect(CivilDate(text: "2026-11-21")?.compact == "20261121")
    }

    @Test(
        "no such day is refused",
        arguments: [
            "2026-02-29", "2026-13-01", "2026-00-10", "2026-04-31", "26-01-01", "2026-1-1", "2026-01-01 ", "",
            "2026/01/01",
        ]
    )
    func noSuchDay(_ text: String) {
        #expect(CivilDate(text: text) == nil)
    }

    @Test("months are added to the end of a shorter month")
    func addingMonths() {
        #expect(CivilDate(text: "2026-01-31")?.adding(months: 1).description == "2026-02-28")
        #expect(CivilDate(text: "2027-12-31")?.adding(months: 2).description == "2028-02-29")
        #expect(CivilDate(text: "2026-03-31")?.adding(months: -1).description == "2026-02-28")
        #expect(CivilDate(text: "2026-12-15")?.nextMonthStart.description == "2027-01-01")
    }

    @Test(
        "the provider's forms all name the same moment",
        arguments: [
            ("2023-10-09T14:55:13", 0.0), ("2023-10-09T14:55:13.640935", 0.640935),
            ("2023-10-09T14:55:13.065172119", 0.065172119),
            ("2023-10-09T14:55:13Z", 0.0), ("2023-10-09T15:55:13+01:00", 0.0), ("2023-10-09T10:55:13-0400", 0.0),
            ("2023-10-09T14:55:13.5+00", 0.5), ("2023-10-09 14:55:13.1", 0.1), ("2023-10-09t14:55:13z", 0.0),
        ]
    )
    func providerForms(_ text: String, _ fraction: Double) throws {
        let date = try #require(Timestamp.parse(text))
        #expect(abs(date.timeIntervalSince1970 - (1_696_863_313 + fraction)) < 0.000001)
    }

    @Test(
        "other texts are no moment",
        arguments: [
            "", "2023-10-09", "2023-10-09T14:55", "2023-10-09T24:00:00Z", "2023-10-09T14:60:00Z",
            "2023-10-09T14:55:60Z",
            "2023-02-30T00:00:00Z", "2023-10-09T14:55:13.", "2023-10-09T14:55:13.1234567890", "2023-10-09T14:55:13ZZ",
            "2023-10-09T14:55:13+25:00", "2023-10-09T14:55:13 Lagos", "2023-10-09T14:55:13+1", "２023-10-09T14:55:13Z",
        ]
    )
    func notAMoment(_ text: String) {
        #expect(Timestamp.parse(text) == nil)
    }

    @Test("a moment's text reads back to the same millisecond, a thousand times")
    func timestampRoundTrip() throws {
        for _ in 0..<1000 {
            let milliseconds = Int64.random(in: -2_000_000_000_000...5_000_000_000_000)
            let text = Timestamp.text(Date(millisecondsSince1970: milliseconds))
            #expect(text.utf8.count == 24)
            #expect(try #require(Timestamp.parse(text)).millisecondsSince1970 == milliseconds)
        }
        #expect(Timestamp.text(Date(millisecondsSince1970: 1_795_223_225_123)) == "2026-11-21T01:07:05.123Z")
        #expect(Timestamp.text(Date(millisecondsSince1970: -1)) == "1969-12-31T23:59:59.999Z")
    }

    @Test("what is finer than a millisecond is cut off, not rounded up")
    func timestampCut() throws {
        let date = try #require(Timestamp.parse("2026-12-31T23:59:59.999999"))
        #expect(Timestamp.text(date) == "2026-12-31T23:59:59.999Z")
    }

    @Test("an adjustable clock is ahead by its offset")
    func adjustableClock() {
        let clock = AdjustableClock(offset: .seconds(3600))
        clock.advance(by: .milliseconds(500))
        #expect(clock.offset == .milliseconds(3_600_500))
        #expect(abs(clock.now.timeIntervalSinceNow - 3600.5) < 5)
        clock.offset = .zero
        #expect(abs(clock.now.timeIntervalSinceNow) < 5)
    }

    @Test("an offset that was read before the clock was set is not taken over")
    func staleOffset() {
        let clock = AdjustableClock(offset: .seconds(600))
        let seen = clock.settings
        clock.offset = .zero
        clock.follow(.seconds(600), unlessSetSince: seen)
        #expect(clock.offset == .zero)
        clock.follow(.seconds(600), unlessSetSince: clock.settings)
        #expect(clock.offset == .seconds(600))
    }
}
