/// Gives empty values and writes down what was asked for.
struct RecordingDecoder: Decoder {
    let recording: Recording
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        self.recording.beginObject()
        return KeyedDecodingContainer(RecordedMembers<Key>(recording: self.recording))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { RecordedScalar(recording: self.recording) }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw ShapeRecorder.Undescribed("only `Array` is described as a list")
    }
}

/// The members of an object.
///
/// `decodeIfPresent` is left to the standard library, which asks `contains` first: that is how one knows.
private struct RecordedMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recording: Recording
    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool {
        self.recording.question(key.stringValue)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode(_ type: Bool.Type, forKey key: Key) -> Bool { self.add(key, .boolean, false) }
    func decode(_ type: String.Type, forKey key: Key) -> String { self.add(key, .text(format: nil), "") }
    func decode(_ type: Int.Type, forKey key: Key) -> Int { self.add(key, .integer(format: "int64"), 0) }
    func decode(_ type: Int16.Type, forKey key: Key) -> Int16 { self.add(key, .integer(format: "int16"), 0) }
    func decode(_ type: Int32.Type, forKey key: Key) -> Int32 { self.add(key, .integer(format: "int32"), 0) }
    func decode(_ type: Int64.Type, forKey key: Key) -> Int64 { self.add(key, .integer(format: "int64"), 0) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { throw Self.strange(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { throw Self.strange(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { throw Self.strange(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { throw Self.strange(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { throw Self.strange(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { throw Self.strange(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { throw Self.strange(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { throw Self.strange(type) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (value, shape) = try ShapeRecorder.read(type)
        return self.add(key, shape, value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw Self.strange(type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Self.strange(Key.self) }
    func superDecoder() throws -> any Decoder { throw Self.strange(Key.self) }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Self.strange(Key.self) }

    private func add<Value>(_ key: Key, _ shape: ValueShape, _ value: Value) -> Value {
        self.recording.add(key.stringValue, shape)
        return value
    }

    private static func strange(_ type: Any.Type) -> ShapeRecorder.Undescribed {
        ShapeRecorder.Undescribed("no contract has a \(type)")
    }
}

/// A value that is no object.
private struct RecordedScalar: SingleValueDecodingContainer {
    let recording: Recording
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }

    func decode(_ type: Bool.Type) -> Bool { self.set(.boolean, false) }
    func decode(_ type: String.Type) -> String { self.set(.text(format: nil), "") }
    func decode(_ type: Int.Type) -> Int { self.set(.integer(format: "int64"), 0) }
    func decode(_ type: Int16.Type) -> Int16 { self.set(.integer(format: "int16"), 0) }
    func decode(_ type: Int32.Type) -> Int32 { self.set(.integer(format: "int32"), 0) }
    func decode(_ type: Int64.Type) -> Int64 { self.set(.integer(format: "int64"), 0) }
    func decode(_ type: Int8.Type) throws -> Int8 { throw Self.strange(type) }
    func decode(_ type: UInt.Type) throws -> UInt { throw Self.strange(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { throw Self.strange(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw Self.strange(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw Self.strange(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw Self.strange(type) }
    func decode(_ type: Double.Type) throws -> Double { throw Self.strange(type) }
    func decode(_ type: Float.Type) throws -> Float { throw Self.strange(type) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (value, shape) = try ShapeRecorder.read(type)
        return self.set(shape, value)
    }

    private func set<Value>(_ shape: ValueShape, _ value: Value) -> Value {
        self.recording.set(shape)
        return value
    }

    private static func strange(_ type: Any.Type) -> ShapeRecorder.Undescribed {
        ShapeRecorder.Undescribed("no contract has a \(type)")
    }
}
