import Foundation
import Primitives

/// Days in Lagos, both ends included.
struct Period: Hashable, Sendable {
    let from: CivilDate
    let to: CivilDate

    /// The most days that can be asked for at once.
    static let maximumDays = 366

    /// Reads the two ends; without them the month so far.
    init(from: String?, to: String?, now: Date) throws(PeriodProblem) {
        let today = LagosCalendar.day(of: now)
        self.to = try Self.day(to, orElse: today, problem: .to)
        self.from = try Self.day(from, orElse: self.to.monthStart, problem: .from)
        guard self.from <= self.to else { throw .order }
        guard self.to.daysSince1970 - self.from.daysSince1970 < Self.maximumDays else { throw .length }
    }

    private static func day(
        _ text: String?,
        orElse day: CivilDate,
        problem: PeriodProblem
    ) throws(PeriodProblem) -> CivilDate {
        guard let text else { return day }
        guard let day = CivilDate(text: text) else { throw problem }
        return day
    }
}

/// Why a period is none.
enum PeriodProblem: Error, Hashable, Sendable {
    /// `from` is no day.
    case from
    /// `to` is no day.
    case to
    /// It ends before it begins.
    case order
    /// It has too many days.
    case length
}
