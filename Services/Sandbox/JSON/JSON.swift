/// A JSON value that keeps whole numbers and decimals apart: 100 is an amount, 100.0 is not.
enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case decimal(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    var number: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    var flag: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }

    var items: [JSON]? {
        guard case .array(let items) = self else { return nil }
        return items
    }

    var members: [String: JSON]? {
        guard case .object(let members) = self else { return nil }
        return members
    }

    /// The members that are strings: metadata.
    var strings: [String: String] { (self.members ?? [:]).compactMapValues(\.text) }

    init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    init(_ strings: [String: String]) { self = .object(strings.mapValues { .string($0) }) }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    init(stringLiteral value: String) { self = .string(value) }

    init(integerLiteral value: Int64) { self = .integer(value) }

    init(booleanLiteral value: Bool) { self = .bool(value) }

    init(arrayLiteral elements: JSON...) { self = .array(elements) }

    init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { _, last in last }))
    }
}
