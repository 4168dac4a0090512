import Foundation
import Primitives

/// A month in Lagos; `yyyy-MM` in events and in the table.
struct UsageMonth: Hashable, Sendable {
    let firstDay: CivilDate

    /// The month at that moment.
    init(at moment: Date) { self.firstDay = LagosCalendar.monthStart(of: moment) }

    /// Reads `yyyy-MM`, or a day `yyyy-MM-dd` in it; nil for anything else.
    init?(text: String) {
        guard let day = CivilDate(text: text) ?? CivilDate(text: text + "-01") else { return nil }
        self.firstDay = day.monthStart
    }

    /// `yyyy-MM`.
    var text: String { String(self.firstDay.description.dropLast(3)) }
}
