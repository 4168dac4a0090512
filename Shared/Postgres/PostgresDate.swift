/// A day without a time zone, as the type `date` stores it.
///
/// A calendar type of your own becomes bindable and readable through this one.
public struct PostgresDate: Hashable, Sendable {
    /// Days since 2000-01-01.
    public let days: Int32

    /// A day by its distance from 2000-01-01.
    public init(days: Int32) { self.days = days }

    /// A day of the proleptic Gregorian calendar.
    ///
    /// - Parameters:
    ///   - year: The year, 1 or later.
    ///   - month: 1 to 12.
    ///   - day: 1 to 31.
    public init(year: Int, month: Int, day: Int) {
        // Years start in March, so that the leap day is the last of one; an era is 400 years.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.days = Int32(era * 146_097 + dayOfEra - 730_425)
    }

    /// The year, the month from 1 and the day from 1.
    public var components: (year: Int, month: Int, day: Int) {
        let shifted = Int(self.days) + 730_425
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension PostgresDate: PostgresArrayElement {
    /// The type `date`.
    public static var postgresType: PostgresType { .date }
    /// The type `date[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_182) }

    /// Writes four bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self.days) }

    /// Reads `date`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> PostgresDate {
        guard cell.type == .date else { throw cell.mismatch(Self.self) }
        return PostgresDate(days: try cell.integer(Int32.self))
    }
}
