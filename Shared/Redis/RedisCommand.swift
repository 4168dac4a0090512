/// One argument of a command.
public enum RedisArgument: Sendable, ExpressibleByStringLiteral {
    /// The name of a key: the configuration's prefix is put before it.
    case key(String)
    /// A word or a value.
    case text(String)
    /// A value of any bytes.
    case bytes([UInt8])
    /// A number.
    case number(Int64)

    /// A word.
    public init(stringLiteral value: String) { self = .text(value) }

    fileprivate var data: [UInt8] {
        switch self {
        case .key(let name), .text(let name): Array(name.utf8)
        case .bytes(let bytes): bytes
        case .number(let number): Array(String(number).utf8)
        }
    }
}

/// A command: its name and its arguments.
public struct RedisCommand: Sendable {
    let words: [RedisArgument]

    /// Puts it together.
    public init(_ name: String, _ arguments: RedisArgument...) { self.init(name, arguments) }

    /// Puts it together.
    public init(_ name: String, _ arguments: [RedisArgument]) { self.words = [.text(name)] + arguments }

    /// A script on keys, whose text is sent.
    public static func eval(_ script: String, keys: [String], _ arguments: [RedisArgument]) -> RedisCommand {
        RedisCommand("EVAL", [.text(script), .number(Int64(keys.count))] + keys.map(RedisArgument.key) + arguments)
    }

    /// A script on keys, by the SHA-1 of its text.
    public static func evalsha(_ hash: String, keys: [String], _ arguments: [RedisArgument]) -> RedisCommand {
        RedisCommand("EVALSHA", [.text(hash), .number(Int64(keys.count))] + keys.map(RedisArgument.key) + arguments)
    }

    /// The command as it is sent, with all keys below the prefix (the Redis protocol, RESP2: an array of bulk strings).
    func encoded(prefix: [UInt8]) -> [UInt8] {
        var bytes = Array("*\(self.words.count)\r\n".utf8)
        for word in self.words {
            let data = word.data
            let before = if case .key = word { prefix } else { [UInt8]() }
            bytes += "$\(before.count + data.count)\r\n".utf8
            bytes += before
            bytes += data
            bytes += "\r\n".utf8
        }
        return bytes
    }
}
