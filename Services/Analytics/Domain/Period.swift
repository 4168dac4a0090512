import Foundation
import Primitives

/// Days in Lagos, both ends included.
struct Period: Hashable, Sendable {
    let from: CivilDate
    let to: CivilDate

    /// The most days that can be asked for at once.
    static let maximumDays = 366

    /// The most days whose single movements can be asked for at once.
    static let maximumDaysOfMovements = 92

    /// Reads the two ends; without them the month so far.
    init(from: String?, to: String?, now: Date, atMost days: Int = Self.maximumDays) throws(PeriodProblem) {
        let today = LagosCalendar.day(of: now)
        self.to = try Self.day(to, orElse: today, problem: .to)
        self.from = try Self.day(from, orElse: self.to.monthStart, problem: .from)
        guard self.from <= self.to else { throw .order }
        guard self.to.daysSince1970 - self.from.daysSince1970 < days else { throw .length(days) }
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

    private init(_ from: CivilDate, _ to: CivilDate) {
        self.from = from
        self.to = to
    }

    /// The days, weeks from Monday to Sunday, or months that it is made of; the first and the last may be cut.
    func buckets(by step: Step) -> [Period] {
        var buckets: [Period] = []
        var from = self.from
        while from <= self.to {
            let next = step.next(after: from)
            buckets.append(Period(from, min(next.adding(days: -1), self.to)))
            from = next
        }
        return buckets
    }

    /// How long a bucket is.
    enum Step: String, Sendable, CaseIterable {
        case day
        case week
        case month

        /// The first day of the bucket after the one that `day` is in.
        func next(after day: CivilDate) -> CivilDate {
            switch self {
            case .day: day.adding(days: 1)
            // 1970 began on a Thursday, the fourth day of a week.
            case .week: day.adding(days: 7 - ((day.daysSince1970 + 3) % 7 + 7) % 7)
            case .month: day.nextMonthStart
            }
        }
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
    /// It has more than so many days.
    case length(Int)
}
