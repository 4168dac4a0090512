import CHiredis

/// A reply.
///
/// Two replies are equal when they hold the same bytes.
public enum RedisValue: Hashable, Sendable {
    /// Nothing there.
    case null
    /// Text, a status such as `OK` included.
    case string(String)
    /// A value that is no UTF-8.
    case bytes([UInt8])
    /// A number.
    case integer(Int64)
    /// Several replies.
    case array([RedisValue])
    /// An error inside an array, as `EXEC` gives it: its first word. An error alone is thrown.
    case error(String)

    /// The value as text, nil for anything but UTF-8 text.
    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value as bytes, nil for anything but text and bytes.
    public var data: [UInt8]? {
        switch self {
        case .string(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .null, .integer, .array, .error: nil
        }
    }

    /// The value as a number, also from its text form; nil for anything else.
    public var number: Int64? {
        switch self {
        case .integer(let number): number
        case .string(let text): Int64(text)
        case .null, .bytes, .array, .error: nil
        }
    }

    /// The parts of an array, nil for anything else.
    public var elements: [RedisValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// Whether there is nothing.
    public var isNull: Bool { self == .null }
}

extension RedisValue {
    /// Copies a reply, which hiredis frees afterwards.
    init(copying reply: redisReply) {
        switch reply.type {
        case REDIS_REPLY_INTEGER: self = .integer(reply.integer)
        case REDIS_REPLY_STRING, REDIS_REPLY_STATUS:
            let bytes = Self.bytes(of: reply)
            self = String(validating: bytes, as: UTF8.self).map(Self.string) ?? .bytes(Array(bytes))
        case REDIS_REPLY_ARRAY:
            self = .array((0..<reply.elements).map { Self(copying: reply.element[$0]) })
        case REDIS_REPLY_ERROR: self = .error(Self.firstWord(of: reply))
        default: self = .null
        }
    }

    private init(copying reply: UnsafeMutablePointer<redisReply>?) {
        guard let reply else {
            self = .null
            return
        }
        self.init(copying: reply.pointee)
    }

    /// The code of an error reply; what follows may quote keys and values.
    private static func firstWord(of reply: redisReply) -> String {
        let word = Self.bytes(of: reply).prefix { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
        return word.isEmpty ? "ERR" : String(decoding: word, as: UTF8.self)
    }

    // Valid as long as the reply.
    private static func bytes(of reply: redisReply) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: reply.str, count: Int(reply.len))
    }
}
