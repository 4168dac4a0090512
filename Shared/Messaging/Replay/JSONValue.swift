import Foundation

/// Any JSON: a row, or the data of an event, whatever it has.
public enum JSONValue: Codable, Sendable, Hashable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// Another number.
    case number(Double)
    /// A text.
    case string(String)
    /// Values in their order.
    case array([JSONValue])
    /// Values by their names.
    case object([String: JSONValue])

    /// Reads whatever stands there.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    /// Writes it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// Reads a text that is an object or an array; nil when it is none.
    public init?(text: String) {
        guard text.hasPrefix("{") || text.hasPrefix("["),
            let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
        else { return nil }
        self = value
    }

    /// Its members, when it is an object.
    public var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// Its text, when it is one.
    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The number, when it is a whole one.
    var wholeNumber: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    /// The same with texts that hold JSON taken apart: jobs and events keep their contents so.
    var unfolded: JSONValue {
        switch self {
        case .string(let text): JSONValue(text: text)?.unfolded ?? self
        case .array(let values): .array(values.map(\.unfolded))
        case .object(let members): .object(members.mapValues(\.unfolded))
        case .null, .bool, .integer, .number: self
        }
    }
}
