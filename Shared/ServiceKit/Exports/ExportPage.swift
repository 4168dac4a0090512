public import Messaging
import Primitives

/// Some rows of one table about a person.
public struct ExportPage: Codable, Sendable {
    /// The table's name in the file; empty when there is nothing more.
    public let table: String
    /// Columns that are not given, and why.
    public let leftOut: [String: String]
    /// The rows, in the order of their key.
    public let rows: [JSONValue]
    /// What to ask for next; nil at the end.
    public let next: String?

    private enum CodingKeys: String, CodingKey {
        case table, rows, next
        case leftOut = "left_out"
    }

    /// Puts a page together.
    public init(table: String, leftOut: [String: String], rows: [JSONValue], next: String?) {
        self.table = table
        self.leftOut = leftOut
        self.rows = rows
        self.next = next
    }
}

/// Where a page begins: a table, and the key of the row before.
///
/// It names the table and not its place in the list: a version that is deployed meanwhile may have others.
struct ExportCursor: Equatable {
    let title: String
    /// Empty at the beginning of the table.
    let after: [String]

    init(_ title: String, after: [String] = []) {
        self.title = title
        self.after = after
    }

    /// Reads what `text` wrote; nil for anything else.
    init?(text: String) {
        guard let bytes = Base64URL.decode(text), let json = String(validating: bytes, as: UTF8.self),
            case .array(let parts) = JSONValue(text: json)
        else { return nil }
        let texts = parts.compactMap(\.text)
        guard texts.count == parts.count, let title = texts.first else { return nil }
        self.init(title, after: Array(texts.dropFirst()))
    }

    var text: String {
        var json = JSONText()
        json.array { list in
            list.string(self.title)
            for part in self.after { list.string(part) }
        }
        return Base64URL.encode(json.bytes)
    }
}
