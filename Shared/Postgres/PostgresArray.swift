public import Foundation

/// A value that arrays of can be bound and read.
public protocol PostgresArrayElement: PostgresEncodable, PostgresDecodable {
    /// The array type of the elements' type.
    static var postgresArrayType: PostgresType { get }
    /// Writes an array of such values.
    static func encodePostgresArray(_ array: [Self], into buffer: inout PostgresBuffer)
    /// Reads an array of such values.
    static func decodePostgresArray(_ cell: PostgresCell) throws(PostgresError) -> [Self]
}

extension PostgresArrayElement {
    /// Writes a one-dimensional array.
    public static func encodePostgresArray(_ array: [Self], into buffer: inout PostgresBuffer) {
        let elementType = Self.postgresType == .inferred ? PostgresType.text : Self.postgresType
        buffer.append(Int32(array.isEmpty ? 0 : 1))
        buffer.append(Int32(1))
        buffer.append(elementType.rawValue)
        guard !array.isEmpty else { return }
        buffer.append(Int32(array.count))
        buffer.append(Int32(1))
        for element in array {
            let start = buffer.bytes.count
            buffer.append(Int32(-1))
            element.encodePostgres(into: &buffer)
            if !buffer.isNull {
                let length = UInt32(buffer.bytes.count - start - 4)
                for byte in 0..<4 { buffer.bytes[start + byte] = UInt8(truncatingIfNeeded: length >> (24 - 8 * byte)) }
            }
            buffer.isNull = false
            buffer.isText = false
        }
    }

    /// Reads a one-dimensional array.
    public static func decodePostgresArray(_ cell: PostgresCell) throws(PostgresError) -> [Self] {
        let bytes = try cell.bytes()
        guard bytes.count >= 12 else { throw cell.mismatch([Self].self) }
        let dimensions = cell.loadInt32(bytes, at: 0)
        if dimensions == 0 { return [] }
        guard dimensions == 1, bytes.count >= 20 else { throw cell.failure("is not an array of one dimension") }
        let type = PostgresType(rawValue: UInt32(bitPattern: cell.loadInt32(bytes, at: 8)))
        let count = Int(cell.loadInt32(bytes, at: 12))
        // Pairs with the length below: each element takes four bytes at least.
        guard count >= 0, count <= (bytes.count - 20) / 4 else { throw cell.mismatch([Self].self) }
        var elements: [Self] = []
        elements.reserveCapacity(count)
        var offset = 20
        for _ in 0..<count {
            guard offset + 4 <= bytes.count else { throw cell.mismatch([Self].self) }
            let length = Int(cell.loadInt32(bytes, at: offset))
            offset += 4
            guard offset + max(0, length) <= bytes.count else { throw cell.mismatch([Self].self) }
            let part = length < 0 ? nil : UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
            elements.append(try Self.decodePostgres(cell.element(type: type, part)))
            offset += max(0, length)
        }
        return elements
    }
}

extension Array: PostgresEncodable where Element: PostgresArrayElement {
    /// The array type of the elements' type; `bytea` for an array of bytes.
    public static var postgresType: PostgresType { Element.postgresArrayType }
    /// Writes the array.
    public func encodePostgres(into buffer: inout PostgresBuffer) {
        Element.encodePostgresArray(self, into: &buffer)
    }
}

extension Array: PostgresDecodable where Element: PostgresArrayElement {
    /// Reads the array.
    public static func decodePostgres(_ cell: PostgresCell) throws(PostgresError) -> [Element] {
        try Element.decodePostgresArray(cell)
    }
}

extension UInt8: PostgresArrayElement {
    /// The type `bytea`.
    public static var postgresArrayType: PostgresType { .bytes }

    /// Writes the bytes as they are.
    public static func encodePostgresArray(_ array: [UInt8], into buffer: inout PostgresBuffer) {
        buffer.append(array)
    }

    /// Reads `bytea`.
    public static func decodePostgresArray(_ cell: PostgresCell) throws(PostgresError) -> [UInt8] {
        guard cell.type == .bytes else { throw cell.mismatch([UInt8].self) }
        return Array(try cell.bytes())
    }
}

extension Array: PostgresArrayElement where Element == UInt8 {
    /// The type `bytea[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_001) }
}

extension Optional: PostgresArrayElement where Wrapped: PostgresArrayElement {
    /// The array type of what may be missing.
    public static var postgresArrayType: PostgresType { Wrapped.postgresArrayType }
}

extension Bool: PostgresArrayElement {
    /// The type `boolean[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_000) }
}

extension Int16: PostgresArrayElement {
    /// The type `smallint[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_005) }
}

extension Int32: PostgresArrayElement {
    /// The type `integer[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_007) }
}

extension Int64: PostgresArrayElement {
    /// The type `bigint[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_016) }
}

extension Int: PostgresArrayElement {
    /// The type `bigint[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_016) }
}

extension Double: PostgresArrayElement {
    /// The type `double precision[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_022) }
}

extension String: PostgresArrayElement {
    /// The type `text[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_009) }
}

extension UUID: PostgresArrayElement {
    /// The type `uuid[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 2_951) }
}

extension Data: PostgresArrayElement {
    /// The type `bytea[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_001) }
}

extension Date: PostgresArrayElement {
    /// The type `timestamptz[]`.
    public static var postgresArrayType: PostgresType { PostgresType(rawValue: 1_185) }
}
