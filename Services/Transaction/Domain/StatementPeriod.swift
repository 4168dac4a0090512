import Foundation
import Primitives

/// The days of a statement in Lagos, both ends included.
struct StatementPeriod: Hashable, Sendable {
    let from: CivilDate
    let to: CivilDate

    /// The most days that a statement may have.
    static let maximumDays = 366

    /// Reads the two ends; without them the month so far.
    init(from: String?, to: String?, now: Date) throws(StatementProblem) {
        let today = LagosCalendar.day(of: now)
        self.to = try Self.day(to, orElse: today, problem: .to)
        self.from = try Self.day(from, orElse: self.to.monthStart, problem: .from)
        guard self.from <= self.to else { throw .order }
        guard self.to.daysSince1970 - self.from.daysSince1970 < Self.maximumDays else { throw .length }
    }

    private static func day(
        _ text: String?,
        orElse day: CivilDate,
        problem: StatementProblem
    ) throws(StatementProblem) -> CivilDate {
        guard let text else { return day }
        guard let day = CivilDate(text: text) else { throw problem }
        return day
    }

    /// The first moment of the first day.
    var begin: Date { LagosCalendar.start(of: self.from) }

    /// The first moment after the last day.
    var end: Date { LagosCalendar.start(of: self.to.adding(days: 1)) }
}

/// Why there is no statement.
enum StatementProblem: Error, Hashable, Sendable {
    /// `from` is no day.
    case from
    /// `to` is no day.
    case to
    /// It ends before it begins.
    case order
    /// It has too many days.
    case length
    /// Too many lines for a PDF.
    case tooLong
}
