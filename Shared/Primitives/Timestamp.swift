public import Foundation

/// Moments as text, without Foundation's formatters (four times their cost).
public enum Timestamp {
    /// RFC 3339 in UTC with milliseconds, as in `2026-11-21T01:07:05.123Z`.
    ///
    /// Finer parts are cut off.
    public static func text(_ date: Date) -> String {
        let milliseconds = date.millisecondsSince1970
        let days = milliseconds.flooringQuotient(86_400_000)
        let rest = Int(milliseconds - days * 86_400_000)
        var text = ASCIIText()
        text.append(CivilDate(daysSince1970: Int(days)))
        text.append("T")
        text.append(rest / 3_600_000, digits: 2)
        text.append(":")
        text.append(rest / 60_000 % 60, digits: 2)
        text.append(":")
        text.append(rest / 1000 % 60, digits: 2)
        text.append(".")
        text.append(rest % 1000, digits: 3)
        text.append("Z")
        return text.string
    }

    /// Reads RFC 3339 with 0 to 9 digits of a fraction; without a zone it is UTC, as the provider means it.
    ///
    /// - Returns: nil when the text is anything else or names no moment (a 30 February, a 25th hour).
    public static func parse(_ text: some StringProtocol) -> Date? {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.take("-"), let month = scanner.number(digits: 2),
            scanner.take("-"), let day = scanner.number(digits: 2),
            let date = CivilDate(year: year, month: month, day: day),
            scanner.take("T") || scanner.take("t") || scanner.take(" ")
        else { return nil }
        guard let hour = scanner.number(digits: 2), scanner.take(":"), let minute = scanner.number(digits: 2),
            scanner.take(":"), let second = scanner.number(digits: 2), hour < 24, minute < 60, second < 60,
            let nanoseconds = Self.fraction(&scanner), let offset = Self.zone(&scanner), scanner.isAtEnd
        else { return nil }
        let seconds = date.daysSince1970 * 86_400 + hour * 3600 + minute * 60 + second - offset
        // Whole seconds are subtracted as integers: 1970 as a floating number would cost the last digits.
        let sinceReference = seconds - Int(Date.timeIntervalBetween1970AndReferenceDate)
        return Date(timeIntervalSinceReferenceDate: Double(sinceReference) + Double(nanoseconds) / 1_000_000_000)
    }

    private static func fraction(_ scanner: inout DigitScanner) -> Int? {
        guard scanner.take(".") else { return 0 }
        var nanoseconds = 0
        var digits = 0
        while let digit = scanner.number(digits: 1) {
            nanoseconds = nanoseconds * 10 + digit
            digits += 1
            guard digits <= 9 else { return nil }
        }
        guard digits > 0 else { return nil }
        while digits < 9 {
            nanoseconds *= 10
            digits += 1
        }
        return nanoseconds
    }

    private static func zone(_ scanner: inout DigitScanner) -> Int? {
        if scanner.isAtEnd || scanner.take("Z") || scanner.take("z") { return 0 }
        let isAhead = scanner.take("+")
        guard isAhead || scanner.take("-"), let hours = scanner.number(digits: 2) else { return nil }
        _ = scanner.take(":")
        let rest = scanner.isAtEnd ? 0 : scanner.number(digits: 2)
        guard let minutes = rest, hours < 24, minutes < 60 else { return nil }
        return (hours * 3600 + minutes * 60) * (isAhead ? 1 : -1)
    }
}

extension Date {
    /// Whole milliseconds since 1970, cut down; half a microsecond too little is taken for a rounding error.
    ///
    /// A moment outside the years -9999 to 9999 is taken for the nearest one inside.
    public var millisecondsSince1970: Int64 {
        let milliseconds = (self.timeIntervalSince1970 * 1000 + 0.0005).rounded(.down)
        return Int64(min(max(milliseconds, -377_705_116_800_000), 253_402_300_799_999))
    }

    /// Makes a moment from milliseconds since 1970.
    public init(millisecondsSince1970 milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
