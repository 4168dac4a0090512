public import Foundation

/// Days and months as people in Nigeria count them: UTC+1 all year, so no time zone database is needed.
public enum LagosCalendar {
    /// Seconds that Lagos is ahead of UTC.
    public static let secondsFromUTC: Int64 = 3600

    private static let secondsPerDay: Int64 = 86_400

    /// The day in Lagos at that moment.
    public static func day(of moment: Date) -> CivilDate {
        let seconds = moment.millisecondsSince1970.flooringQuotient(1000) + Self.secondsFromUTC
        return CivilDate(daysSince1970: Int(seconds.flooringQuotient(Self.secondsPerDay)))
    }

    /// The first day of the month in Lagos at that moment.
    public static func monthStart(of moment: Date) -> CivilDate { Self.day(of: moment).monthStart }

    /// The moment at which that day begins in Lagos.
    public static func start(of day: CivilDate) -> Date {
        Date(millisecondsSince1970: (Int64(day.daysSince1970) * Self.secondsPerDay - Self.secondsFromUTC) * 1000)
    }

    /// The moments from the begin of that moment's day to the begin of the next one.
    public static func dayBounds(of moment: Date) -> Range<Date> {
        let day = Self.day(of: moment)
        return Self.start(of: day)..<Self.start(of: day.adding(days: 1))
    }

    /// The moments from the begin of that moment's month to the begin of the next one.
    public static func monthBounds(of moment: Date) -> Range<Date> {
        let first = Self.monthStart(of: moment)
        return Self.start(of: first)..<Self.start(of: first.nextMonthStart)
    }
}
