import Foundation
import Primitives

/// When periods end: at the time of day at which the first one began, on the same day of each month in Lagos, or on the
/// last one of a shorter month; 31 January, 28 February, 31 March.
enum Anniversary {
    /// The first anniversary of a moment that comes after another; in whole milliseconds, as events carry them.
    static func of(_ anchor: Date, after moment: Date) -> Date {
        let first = LagosCalendar.day(of: anchor)
        let sinceMidnight = anchor.millisecondsSince1970 - LagosCalendar.start(of: first).millisecondsSince1970
        let day = LagosCalendar.day(of: moment)
        var months = max(0, (day.year - first.year) * 12 + day.month - first.month - 1)
        while true {
            months += 1
            let midnight = LagosCalendar.start(of: first.adding(months: months)).millisecondsSince1970
            let next = midnight + sinceMidnight
            if next > moment.millisecondsSince1970 { return Date(millisecondsSince1970: next) }
        }
    }
}
