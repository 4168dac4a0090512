/// A key made from a name or an index.
struct StrictJSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        self.intValue = nil
    }

    init(intValue: Int) {
        self.stringValue = String(intValue)
        self.intValue = intValue
    }
}

/// The members of an object.
struct StrictJSONObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: [String: StrictJSON]
    let codingPath: [any CodingKey]
    let asked: AskedMembers?
    private let pointer: String

    init(members: [String: StrictJSON], codingPath: [any CodingKey], asked: AskedMembers?) {
        self.members = members
        self.codingPath = codingPath
        self.asked = asked
        self.pointer = asked == nil ? "" : JSONPointer.text(of: codingPath)
        asked?.enter(self.pointer)
    }

    var allKeys: [Key] { self.members.keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool {
        self.asked?.note(key.stringValue, in: self.pointer)
        return self.members[key.stringValue] != nil
    }

    func decodeNil(forKey key: Key) throws -> Bool { try self.decoder(for: key).value == .null }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        let decoder = try self.decoder(for: key)
        guard decoder.value != .null || type is any OptionalMarker.Type else {
            throw DecodingError.valueNotFound(
                type,
                StrictJSONNote.context("The field must not be null.", at: decoder.codingPath)
            )
        }
        return try decoder.decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.decoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.decoder(for: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        StrictJSONDecoder(value: .object(self.members), codingPath: self.codingPath, asked: self.asked)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try self.decoder(for: key) }

    private func decoder(for key: Key) throws -> StrictJSONDecoder {
        self.asked?.note(key.stringValue, in: self.pointer)
        guard let value = self.members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key,
                StrictJSONNote.context("The field is missing.", at: self.codingPath)
            )
        }
        return StrictJSONDecoder(value: value, codingPath: self.codingPath + [key], asked: self.asked)
    }
}

/// The elements of an array, one after the other.
struct StrictJSONArray: UnkeyedDecodingContainer {
    let elements: [StrictJSON]
    let codingPath: [any CodingKey]
    let asked: AskedMembers?
    private(set) var currentIndex = 0

    var count: Int? { self.elements.count }
    var isAtEnd: Bool { self.currentIndex >= self.elements.count }

    init(elements: [StrictJSON], codingPath: [any CodingKey], asked: AskedMembers?) {
        self.elements = elements
        self.codingPath = codingPath
        self.asked = asked
    }

    mutating func decodeNil() throws -> Bool {
        guard try self.peek().value == .null else { return false }
        self.currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try self.peek().decode(type)
        self.currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try self.peek().container(keyedBy: type)
        self.currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try self.peek().unkeyedContainer()
        self.currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try self.peek()
        self.currentIndex += 1
        return decoder
    }

    private func peek() throws -> StrictJSONDecoder {
        let path = self.codingPath + [StrictJSONKey(intValue: self.currentIndex)]
        guard !self.isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self,
                StrictJSONNote.context("The array has too few elements.", at: path)
            )
        }
        return StrictJSONDecoder(value: self.elements[self.currentIndex], codingPath: path, asked: self.asked)
    }
}

/// Lets `decode(Int?.self, forKey:)` pass a null on to `Optional` itself.
private protocol OptionalMarker {}
extension Optional: OptionalMarker {}
