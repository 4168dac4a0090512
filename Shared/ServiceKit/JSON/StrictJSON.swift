/// A JSON text that was read strictly: valid UTF-8, no duplicated names, bounded depth, numbers kept as written.
enum StrictJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number exactly as it was written; `integer` is set when it is a plain integer within Int64.
    case number(text: String, integer: Int64?)
    case string(String)
    case array([StrictJSON])
    case object([String: StrictJSON])

    subscript(name: String) -> StrictJSON? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var integer: Int64? {
        guard case .number(_, let integer) = self else { return nil }
        return integer
    }

    /// What it is, in words for an error text.
    var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// Why a body was not accepted as JSON, and where.
struct StrictJSONError: Error, Equatable {
    enum Reason: String, Equatable {
        case malformed = "invalid_json"
        case notUTF8 = "invalid_utf8"
        case duplicateName = "duplicate_field"
        case unknownName = "unknown_field"
        case tooDeep = "too_deep"
        case nullCharacter = "null_character"
    }

    let reason: Reason
    /// A JSON pointer to the innermost place that was entered, or to what is around a name that cannot be ours.
    let pointer: String
}

/// JSON pointers (RFC 6901).
enum JSONPointer {
    /// The place that a path of decoding leads to.
    static func text(of path: [any CodingKey]) -> String {
        Self.text(path.map { $0.intValue.map(String.init) ?? $0.stringValue })
    }

    static func text(_ path: [String]) -> String {
        path.map { "/" + Self.escape($0) }.joined()
    }

    private static func escape(_ name: String) -> String {
        guard name.utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return name }
        var text = ""
        for character in name {
            switch character {
            case "~": text += "~0"
            case "/": text += "~1"
            default: text.append(character)
            }
        }
        return text
    }
}
