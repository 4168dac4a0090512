public import Foundation

/// Any JSON.
public enum JSONNode: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A whole number.
    case number(Int64)
    /// A number that is not whole.
    case fraction(Double)
    /// A text.
    case text(String)
    /// An array.
    case list([JSONNode])
    /// An object.
    case object([String: JSONNode])

    /// The member of an object; nil when there is none, or this is no object.
    public subscript(name: String) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text, or nil.
    public var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }

    /// The whole number, or nil.
    public var number: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }

    /// The number, or nil.
    public var double: Double? {
        switch self {
        case .number(let number): Double(number)
        case .fraction(let number): number
        default: nil
        }
    }

    /// The elements, or nil.
    public var elements: [JSONNode]? {
        guard case .list(let elements) = self else { return nil }
        return elements
    }

    /// The members, or nil.
    public var members: [String: JSONNode]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The elements that are texts.
    var texts: [String] { (self.elements ?? []).compactMap(\.text) }

    /// A list of texts.
    static func texts(_ texts: [String]) -> JSONNode { .list(texts.map(JSONNode.text)) }

    /// Reads a document.
    ///
    /// - Throws: What `JSONDecoder` throws.
    public init(json: Data) throws { self = try JSONDecoder().decode(JSONNode.self, from: json) }

    /// The document with sorted members, one per line: equal values are equal texts.
    ///
    /// - Throws: What `JSONEncoder` throws.
    public func document() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
        return try encoder.encode(self) + Data("\n".utf8)
    }
}

extension JSONNode: Codable {
    /// Reads whatever comes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .boolean(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let number = try? container.decode(Double.self) {
            self = .fraction(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let elements = try? container.decode([JSONNode].self) {
            self = .list(elements)
        } else {
            self = .object(try container.decode([String: JSONNode].self))
        }
    }

    /// Writes it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let flag): try container.encode(flag)
        case .number(let number): try container.encode(number)
        case .fraction(let number): try container.encode(number)
        case .text(let text): try container.encode(text)
        case .list(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONNode: ExpressibleByStringInterpolation, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// A flag.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .number(value) }
    /// A list.
    public init(arrayLiteral elements: JSONNode...) { self = .list(elements) }
    /// An object.
    public init(dictionaryLiteral elements: (String, JSONNode)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
