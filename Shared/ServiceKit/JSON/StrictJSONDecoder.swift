import Foundation
import Primitives

/// Decodes `Decodable` values from strictly read JSON: integers only from plain integers within range, dates from
/// RFC 3339 texts, bytes from Base64, and every error with the full path.
struct StrictJSONDecoder: Decoder {
    let value: StrictJSON
    let codingPath: [any CodingKey]
    /// Writes down what is asked for; nil where members that nobody asks for are passed over.
    var asked: AskedMembers?
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Decodes what other programs of ours send: members that the type does not know are passed over.
    static func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        let value = try StrictJSONParser.parse(bytes)
        return try StrictJSONDecoder(value: value, codingPath: []).decode(type)
    }

    /// Decodes what a person sends: a member that the type does not ask for is refused with its place.
    static func decodeClosed<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
        let value = try StrictJSONParser.parse(bytes)
        let asked = AskedMembers()
        let decoded = try StrictJSONDecoder(value: value, codingPath: [], asked: asked).decode(type)
        if let pointer = asked.unasked(in: value) { throw StrictJSONError(reason: .unknownName, pointer: pointer) }
        return decoded
    }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if type == Date.self {
            return try self.cast(try self.date(), to: type)
        }
        if type == Data.self {
            return try self.cast(try self.data(), to: type)
        }
        return try T(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = self.value else { throw self.mismatch([String: Any].self, "an object") }
        return KeyedDecodingContainer(
            StrictJSONObject<Key>(members: members, codingPath: self.codingPath, asked: self.asked)
        )
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = self.value else { throw self.mismatch([Any].self, "an array") }
        return StrictJSONArray(elements: elements, codingPath: self.codingPath, asked: self.asked)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func mismatch(_ type: Any.Type, _ expected: String) -> DecodingError {
        let text = "Expected \(expected), not \(self.value.kind)."
        return .typeMismatch(type, StrictJSONNote.context(text, at: self.codingPath))
    }

    private func cast<T>(_ value: some Any, to type: T.Type) throws -> T {
        guard let value = value as? T else { throw self.mismatch(type, "another type") }
        return value
    }

    private func corrupted(_ text: String) -> DecodingError {
        .dataCorrupted(StrictJSONNote.context(text, at: self.codingPath))
    }

    private func date() throws -> Date {
        guard case .string(let text) = self.value else { throw self.mismatch(Date.self, "a date-time string") }
        guard let date = Timestamp.parse(text) else { throw self.corrupted("Expected an RFC 3339 date-time.") }
        return date
    }

    private func data() throws -> Data {
        guard case .string(let text) = self.value else { throw self.mismatch(Data.self, "a Base64 string") }
        guard let data = Data(base64Encoded: text) else { throw self.corrupted("Expected Base64.") }
        return data
    }

    fileprivate func integer<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
        guard case .number(let text, let integer) = self.value else { throw self.mismatch(type, "an integer") }
        // "1.0" and "1e2" are refused although they are whole: an amount has one spelling.
        if let integer, let value = T(exactly: integer) { return value }
        if integer == nil, T.self == UInt64.self, let value = T(text) { return value }
        let whole = text.utf8.allSatisfy {
            $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        throw whole ? self.corrupted("The number is out of range.") : self.mismatch(type, "a whole number")
    }
}

extension StrictJSONDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { self.value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let flag) = self.value else { throw self.mismatch(type, "a boolean") }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let text) = self.value else { throw self.mismatch(type, "a string") }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        guard case .number(let text, _) = self.value else { throw self.mismatch(type, "a number") }
        guard let number = Double(text), number.isFinite else { throw self.corrupted("The number is out of range.") }
        return number
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try self.decode(Double.self)) }
    func decode(_ type: Int.Type) throws -> Int { try self.integer(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try self.integer(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try self.integer(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try self.integer(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try self.integer(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try self.integer(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try self.integer(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try self.integer(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try self.integer(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try self.integer(type) }
}

/// Marks a text as our own: it says what was expected and never quotes the value, so a client may read it.
struct StrictJSONNote: Error {
    static func context(_ text: String, at path: [any CodingKey]) -> DecodingError.Context {
        DecodingError.Context(codingPath: path, debugDescription: text, underlyingError: StrictJSONNote())
    }
}
