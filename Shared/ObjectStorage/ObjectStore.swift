/// Keeps files by key.
///
/// Every operation may be repeated.
public protocol ObjectStore: Sendable {
    /// Keeps an object; one that is there under the same key is replaced, as a whole.
    func put(_ bytes: [UInt8], contentType: String, at key: ObjectKey) async throws(ObjectStorageError)

    /// The bytes of an object; nil when there is none.
    ///
    /// - Throws: `ObjectStorageError.tooLong` for one of more than `limit` bytes.
    func get(_ key: ObjectKey, limit: Int) async throws(ObjectStorageError) -> [UInt8]?

    /// Removes an object; it may be gone already.
    func delete(_ key: ObjectKey) async throws(ObjectStorageError)
}

/// Where an object is: up to six segments of letters, digits, hyphens and underscores.
public struct ObjectKey: Hashable, Sendable {
    /// The segments.
    public let segments: [String]

    /// Takes segments; nil when there are none or too many, or when one has another character or more than 64.
    public init?(_ segments: [String]) {
        guard (1...6).contains(segments.count), segments.allSatisfy(Self.isSegment) else { return nil }
        self.segments = segments
    }

    /// As it stands in a path.
    public var text: String { self.segments.joined(separator: "/") }

    private static func isSegment(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(Self.isUnit)
    }

    private static func isUnit(_ unit: UInt8) -> Bool {
        switch unit {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Why an object could not be put, read or deleted.
///
/// It names no key: keys of public objects are as good as the objects.
public enum ObjectStorageError: Error, Hashable, Sendable {
    /// An operation on a file failed with this `errno`.
    case file(Int32)
    /// The server refuses, with this status: credentials, bucket or rights are wrong.
    case refused(status: Int)
    /// The server could not be reached, or could not do it, however often it was asked.
    case unavailable
    /// The object is longer than the reader takes.
    case tooLong
}
