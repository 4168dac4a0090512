public import Foundation

/// Days in Lagos, both ends included.
public struct LagosPeriod: Hashable, Sendable {
    /// The first day.
    public let from: CivilDate
    /// The last day.
    public let to: CivilDate

    /// The most days that can be asked for at once: a year, also a leap year.
    public static let maximumDays = 366

    /// Names both ends, in order.
    public init(_ from: CivilDate, _ to: CivilDate) {
        precondition(from <= to, "a period begins before it ends")
        self.from = from
        self.to = to
    }

    /// Reads the two ends, `yyyy-MM-dd`; without them the month so far, without a begin the month of the end.
    public init(
        from: String?,
        to: String?,
        now: Date,
        atMost days: Int = Self.maximumDays
    ) throws(LagosPeriodProblem) {
        let today = LagosCalendar.day(of: now)
        self.to = try Self.day(to, orElse: today, problem: .to)
        self.from = try Self.day(from, orElse: self.to.monthStart, problem: .from)
        guard self.from <= self.to else { throw .order }
        guard self.to.daysSince1970 - self.from.daysSince1970 < days else { throw .length(days) }
    }

    private static func day(
        _ text: String?,
        orElse day: CivilDate,
        problem: LagosPeriodProblem
    ) throws(LagosPeriodProblem) -> CivilDate {
        guard let text else { return day }
        guard let day = CivilDate(text: text) else { throw problem }
        return day
    }

    /// The first moment of the first day.
    public var begin: Date { LagosCalendar.start(of: self.from) }

    /// The first moment after the last day.
    public var end: Date { LagosCalendar.start(of: self.to.adding(days: 1)) }
}

/// Why a period is none.
public enum LagosPeriodProblem: Error, Hashable, Sendable {
    /// `from` is no day.
    case from
    /// `to` is no day.
    case to
    /// It ends before it begins.
    case order
    /// It has more than so many days.
    case length(Int)
}
