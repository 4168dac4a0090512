/// A day of the Gregorian calendar without time or zone.
///
/// Text and JSON form `yyyy-MM-dd`.
public struct CivilDate: Hashable, Sendable {
    /// The year, 1 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, 1 to 31.
    public let day: Int

    /// Makes a date, nil when there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        guard day <= Self.days(inMonth: month, of: year) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Makes the date that is `days` days after 1970-01-01.
    public init(daysSince1970 days: Int) {
        // Counted in years that begin on 1 March, so that the leap day is the last one.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        self.day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        self.month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        self.year = yearOfEra + era * 400 + (self.month <= 2 ? 1 : 0)
    }

    /// Reads `yyyy-MM-dd`, nil when it is not exactly that or there is no such day.
    public init?(text: some StringProtocol) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.take("-"), let month = scanner.number(digits: 2),
            scanner.take("-"), let day = scanner.number(digits: 2), scanner.isAtEnd
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Days after 1970-01-01, negative before it.
    public var daysSince1970: Int {
        let year = self.month <= 2 ? self.year - 1 : self.year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (self.month > 2 ? self.month - 3 : self.month + 9) + 2) / 5 + self.day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The date so many days later, or earlier.
    public func adding(days: Int) -> CivilDate { CivilDate(daysSince1970: self.daysSince1970 + days) }

    /// The same day so many months later, or the last one of a shorter month.
    public func adding(months: Int) -> CivilDate {
        let first = self.firstOfMonth(after: months)
        return first.adding(days: min(self.day, Self.days(inMonth: first.month, of: first.year)) - 1)
    }

    /// The first day of the date's month.
    public var monthStart: CivilDate { self.firstOfMonth(after: 0) }

    /// The first day of the month after the date's.
    public var nextMonthStart: CivilDate { self.firstOfMonth(after: 1) }

    private func firstOfMonth(after months: Int) -> CivilDate {
        let index = self.year * 12 + self.month - 1 + months
        return CivilDate(uncheckedYear: index / 12, month: index % 12 + 1, day: 1)
    }

    private init(uncheckedYear year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    private static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2:
            let isLeap = year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
            return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }
}

extension CivilDate: Comparable {
    /// Orders by time.
    public static func < (left: CivilDate, right: CivilDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

extension CivilDate: CustomStringConvertible {
    /// The date as `yyyy-MM-dd`.
    public var description: String {
        var text = ASCIIText()
        text.append(self)
        return text.string
    }

    /// The date as `yyyyMMdd`, as references hold it.
    public var compact: String { self.description.filter { $0 != "-" } }
}

extension CivilDate: Codable {
    /// Reads `yyyy-MM-dd`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let date = CivilDate(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a date of the form yyyy-MM-dd")
        }
        self = date
    }

    /// Writes `yyyy-MM-dd`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.description)
    }
}
