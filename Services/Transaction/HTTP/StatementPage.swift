import Primitives
import ServiceKit

/// Where in which statement a page begins: what a cursor of statements keeps.
///
/// The end goes along: a payment that comes between two pages belongs to the next statement, and all pages have the
/// closing balance of the first.
struct StatementPage: Hashable, Sendable {
    /// The number of the last entry of the page before.
    let after: Int64
    /// The number of the statement's last entry.
    let last: Int64
    let period: LagosPeriod

    init(after: Int64, last: Int64, period: LagosPeriod) {
        self.after = after
        self.last = last
        self.period = period
    }

    /// What the cursor of a request keeps; nil without one.
    ///
    /// Days may be left out of a later page; others than the cursor's are a mistake.
    /// - Throws: 400 with the parameter.
    init?(_ paging: Paging, from: String?, to: String?) throws(APIError) {
        guard let numbers = try paging.numbers(4) else { return nil }
        // Sealed by us: these are days, in order.
        let period = LagosPeriod(
            CivilDate(daysSince1970: Int(numbers[2])),
            CivilDate(daysSince1970: Int(numbers[3]))
        )
        for (name, text, day) in [("from", from, period.from), ("to", to, period.to)] {
            guard let text, text != day.description else { continue }
            throw .invalid(parameter: name, detail: "The cursor belongs to a statement with another day here: \(day).")
        }
        self.init(after: numbers[0], last: numbers[1], period: period)
    }

    /// The page as a cursor keeps it.
    var numbers: [Int64] {
        [self.after, self.last, Int64(self.period.from.daysSince1970), Int64(self.period.to.daysSince1970)]
    }
}
