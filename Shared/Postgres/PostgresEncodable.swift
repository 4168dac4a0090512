public import Foundation

/// A value that can be bound to a statement.
///
/// To make a type of your own bindable, give the `postgresType` of what it is stored as and encode that.
public protocol PostgresEncodable: Sendable {
    /// The type the server is told.
    static var postgresType: PostgresType { get }
    /// Writes the value in the type's binary form.
    func encodePostgres(into buffer: inout PostgresBuffer)
}

/// Takes the bytes of bound values.
public struct PostgresBuffer: Sendable {
    var bytes: [UInt8] = []
    var isNull = false
    /// Set by text whose type the server infers: it goes in text form, which every type can read.
    var isText = false
    var problem: String?

    mutating func append<Integer: FixedWidthInteger>(_ value: Integer) {
        withUnsafeBytes(of: value.bigEndian) { self.bytes.append(contentsOf: $0) }
    }

    mutating func append(_ value: some Sequence<UInt8>) { self.bytes.append(contentsOf: value) }

    mutating func fail(_ problem: String) { self.problem = self.problem ?? problem }
}

extension Bool: PostgresEncodable {
    /// The type `boolean`.
    public static var postgresType: PostgresType { .bool }
    /// Writes one byte.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(UInt8(self ? 1 : 0)) }
}

extension UInt8: PostgresEncodable {
    /// `smallint`; an array of bytes is a `bytea`.
    public static var postgresType: PostgresType { .int2 }
    /// Writes two bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(Int16(self)) }
}

extension Int16: PostgresEncodable {
    /// The type `smallint`.
    public static var postgresType: PostgresType { .int2 }
    /// Writes two bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self) }
}

extension Int32: PostgresEncodable {
    /// The type `integer`.
    public static var postgresType: PostgresType { .int4 }
    /// Writes four bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self) }
}

extension Int64: PostgresEncodable {
    /// The type `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// Writes eight bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self) }
}

extension Int: PostgresEncodable {
    /// The type `bigint`.
    public static var postgresType: PostgresType { .int8 }
    /// Writes eight bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(Int64(self)) }
}

extension Double: PostgresEncodable {
    /// The type `double precision`.
    public static var postgresType: PostgresType { .float8 }
    /// Writes eight bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self.bitPattern) }
}

extension String: PostgresEncodable {
    /// Inferred by the server: text fits `text`, `jsonb`, `numeric`, `date`, an enum and whatever else can be read from text.
    public static var postgresType: PostgresType { .inferred }
    /// Writes UTF-8.
    ///
    /// A NUL character cannot be stored and fails the statement.
    public func encodePostgres(into buffer: inout PostgresBuffer) {
        if self.utf8.contains(0) { buffer.fail("text with a NUL character") }
        buffer.isText = true
        buffer.append(self.utf8)
    }
}

extension UUID: PostgresEncodable {
    /// The type `uuid`.
    public static var postgresType: PostgresType { .uuid }
    /// Writes sixteen bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) {
        withUnsafeBytes(of: self.uuid) { buffer.append($0) }
    }
}

extension Data: PostgresEncodable {
    /// The type `bytea`.
    public static var postgresType: PostgresType { .bytes }
    /// Writes the bytes.
    public func encodePostgres(into buffer: inout PostgresBuffer) { buffer.append(self) }
}

/// Seconds from 2000-01-01, where PostgreSQL counts from, back to 2001-01-01, where Foundation does.
let secondsToPostgresEpoch: Double = 366 * 86_400

extension Date: PostgresEncodable {
    /// The type `timestamptz`.
    public static var postgresType: PostgresType { .timestamptz }
    /// Writes microseconds; fractions of one are rounded.
    public func encodePostgres(into buffer: inout PostgresBuffer) {
        // Whole seconds and the rest apart, so that no microsecond is lost to the precision of a Double.
        let whole = self.timeIntervalSinceReferenceDate.rounded(.down)
        let rest = ((self.timeIntervalSinceReferenceDate - whole) * 1_000_000).rounded()
        guard whole.magnitude < 9_000_000_000_000 else { return buffer.fail("a date out of range") }
        buffer.append((Int64(whole) + Int64(secondsToPostgresEpoch)) * 1_000_000 + Int64(rest))
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    /// The type of what may be missing.
    public static var postgresType: PostgresType { Wrapped.postgresType }
    /// Writes the value or null.
    public func encodePostgres(into buffer: inout PostgresBuffer) {
        guard let value = self else {
            buffer.isNull = true
            return
        }
        value.encodePostgres(into: &buffer)
    }
}
