import Primitives

extension LagosPeriod {
    /// The most days whose single movements can be asked for at once.
    static let maximumDaysOfMovements = 92

    /// The days, weeks from Monday to Sunday, or months that it is made of; the first and the last may be cut.
    func buckets(by step: Step) -> [LagosPeriod] {
        var buckets: [LagosPeriod] = []
        var from = self.from
        while from <= self.to {
            let next = step.next(after: from)
            buckets.append(LagosPeriod(from, min(next.adding(days: -1), self.to)))
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
