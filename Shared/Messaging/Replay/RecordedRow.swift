import Foundation
import Postgres

/// A row that was written in a dry run, as its table's recorder saw it.
struct RecordedRow: Sendable {
    /// The event that was being handled.
    let event: UUID
    let table: String
    let keyColumns: [String]
    let before: [String: JSONValue]?
    let after: [String: JSONValue]?

    /// The most rows of a batch that are looked at.
    static let maximum = 20_000

    /// What the transaction has recorded so far, in order.
    static func all(in transaction: EventTransaction) async throws -> [RecordedRow] {
        try await transaction.query(
            """
            SELECT event_id, relation, key_columns, before::text, after::text FROM row_changes
            ORDER BY number LIMIT \(Int64(Self.maximum))
            """
        ).map { row in
            let (event, table, keys, before, after) =
                try row.decode(UUID.self, String.self, String.self, String?.self, String?.self)
            return RecordedRow(
                event: event,
                table: table,
                keyColumns: keys.split(separator: ",").map(String.init),
                before: try Self.members(before),
                after: try Self.members(after)
            )
        }
    }

    private static func members(_ text: String?) throws -> [String: JSONValue]? {
        try text.map { try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8)) }
    }

    /// The values of the primary key, as text; nil for a table without one.
    var key: String? {
        guard !self.keyColumns.isEmpty, let row = self.after ?? self.before else { return nil }
        return self.keyColumns.map { RaisedSequence.lowered(row[$0] ?? .null).shown.plainText }.joined(separator: "/")
    }
}

extension JSONValue {
    /// A single value as people read it.
    fileprivate var plainText: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): value
        case .array, .object: "..."
        }
    }
}
