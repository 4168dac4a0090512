public import Foundation

/// A value that can be read from a row.
///
/// To make a type of your own readable, decode what it is stored as and build it from that.
public protocol PostgresDecodable {
    /// Reads the value of a cell.
    ///
    /// - Throws: `PostgresError` with the code `decoding` when the cell is null or of another type.
    static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Self
}

extension PostgresDecodable where Self: FixedWidthInteger & SignedInteger {
    /// Reads any integer type and `numeric` without a fraction, when the value fits.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Self {
        let wide: Int64
        switch cell.type {
        case .int8: wide = try cell.integer(Int64.self)
        case .int4: wide = Int64(try cell.integer(Int32.self))
        case .int2: wide = Int64(try cell.integer(Int16.self))
        case .numeric: wide = try PostgresNumeric(cell).integer(cell)
        default: throw cell.mismatch(Self.self)
        }
        guard let value = Self(exactly: wide) else { throw cell.failure("does not fit \(Self.self)") }
        return value
    }
}

extension Int16: PostgresDecodable {}
extension Int32: PostgresDecodable {}
extension Int64: PostgresDecodable {}
extension Int: PostgresDecodable {}

extension UInt8: PostgresDecodable {
    /// Reads an integer from 0 to 255.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> UInt8 {
        guard let value = UInt8(exactly: try Int64.decodePostgres(cell)) else {
            throw cell.failure("does not fit UInt8")
        }
        return value
    }
}

extension Bool: PostgresDecodable {
    /// Reads `boolean`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Bool {
        guard cell.type == .bool else { throw cell.mismatch(Self.self) }
        return try cell.bytes(count: 1)[0] != 0
    }
}

extension Double: PostgresDecodable {
    /// Reads `double precision` and `real`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Double {
        switch cell.type {
        case .float8: Double(bitPattern: try cell.integer(UInt64.self))
        case .float4: Double(Float(bitPattern: try cell.integer(UInt32.self)))
        default: throw cell.mismatch(Self.self)
        }
    }
}

extension String: PostgresDecodable {
    /// Reads text, `json`, `jsonb`, `name`, enums and `numeric`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> String {
        if cell.type == .numeric { return try PostgresNumeric(cell).text }
        guard !PostgresType.binaryOnly.contains(cell.type) else { throw cell.mismatch(Self.self) }
        let bytes = try cell.bytes()
        // The binary form of `jsonb` is a version byte, then text.
        return String(decoding: cell.type == .jsonb ? bytes.dropFirst() : bytes[...], as: UTF8.self)
    }
}

extension UUID: PostgresDecodable {
    /// Reads `uuid`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> UUID {
        guard cell.type == .uuid else { throw cell.mismatch(Self.self) }
        return UUID(uuid: try cell.bytes(count: 16).loadUnaligned(as: uuid_t.self))
    }
}

extension Data: PostgresDecodable {
    /// Reads `bytea`.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Data {
        guard cell.type == .bytes else { throw cell.mismatch(Self.self) }
        return Data(try cell.bytes())
    }
}

extension Date: PostgresDecodable {
    /// Reads `timestamptz`, and `timestamp` as UTC.
    ///
    /// The infinities become the distant future and past.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Date {
        guard cell.type == .timestamptz || cell.type == .timestamp else { throw cell.mismatch(Self.self) }
        let microseconds = try cell.integer(Int64.self)
        if microseconds == .max { return .distantFuture }
        if microseconds == .min { return .distantPast }
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        let whole = Double(seconds) - secondsToPostgresEpoch
        return Date(timeIntervalSinceReferenceDate: whole + Double(rest) / 1_000_000)
    }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    /// Reads the value, nil for null.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> Wrapped? {
        cell.isNull ? nil : try Wrapped.decodePostgres(cell)
    }
}
