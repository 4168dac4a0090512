import Foundation
import Messaging
import Postgres
import Primitives
import Sealing

/// How rows are read and opened.
extension ExportTable {
    /// The statement of a page: the row as JSON, its key, what is sealed in it, and whose keys open that.
    func page(of person: UserID, after: [String], limit: Int) -> SQL {
        let members = self.shown.map { #""\#($0)""# } + self.computed.map { #"(\#($0.expression)) AS "\#($0.name)""# }
        let keys = self.keys.map { #""\#($0.column)""# }.joined(separator: ", ")
        let given = Self.naming(person, in: members.joined(separator: ", "))
        let condition = Self.naming(person, in: "(\(self.condition))")
        let rest: SQL =
            after.isEmpty
            ? ""
            : " AND (\(unsafe: keys)) > (\(SQL.join(zip(self.keys, after).map(Self.value), separator: ", ")))"
        let found: SQL = "SELECT * FROM \(unsafe: self.name) WHERE \(condition)\(rest)"
        // Where no index has both, the planner must not go through everybody's rows in the order of the key until a
        // page of this person's is full.
        let source: SQL = self.isIndexed ? "(\(found)) AS mine" : "mine"
        let before: SQL = self.isIndexed ? "" : "WITH mine AS MATERIALIZED (\(found)) "
        return """
            \(before)SELECT row_to_json(given)::text, \(unsafe: Self.texts(self.keys.map(\.column))),
                \(unsafe: Self.texts(self.sealed.map(\.column))),
                \(unsafe: Self.texts(self.sealed.map(\.owner)))
            FROM \(source) CROSS JOIN LATERAL (SELECT \(given)) AS given
            ORDER BY \(unsafe: self.keys.map { #"mine."\#($0.column)""# }.joined(separator: ", ")) LIMIT \(Int64(limit))
            """
    }

    /// The row with its sealed columns opened.
    ///
    /// What cannot be opened, because its writer was erased, is said to be so.
    func opened(_ row: PostgresRow, of person: UserID, keys: (any DataKeys)?) async throws -> JSONValue {
        let (json, _, sealed, owners) = try row.decode(String.self, [String].self, [String?].self, [String?].self)
        guard var members = JSONValue(text: json)?.members else { throw ExportProblem.noObject }
        for (index, column) in self.sealed.enumerated() {
            guard let text = sealed[index] else {
                members[column.column] = .null
                continue
            }
            guard let keys else { throw ExportProblem.noKeys }
            let owner = owners[index].flatMap { UserID(text: $0) } ?? person
            members[column.column] = try await column.open(text, of: owner, keys)
        }
        return .object(members)
    }

    private static func value(_ key: Key, _ text: String) -> SQL { "\(text)::\(unsafe: key.type)" }

    /// Columns of the row as an array of texts; null in the place of none.
    private static func texts(_ columns: [String?]) -> String {
        "ARRAY[" + columns.map { $0.map { #"mine."\#($0)"::text"# } ?? "NULL" }.joined(separator: ", ") + "]::text[]"
    }

    /// A text of the program with the person's id bound where it stands for it.
    private static func naming(_ person: UserID, in text: String) -> SQL {
        let parts = text.components(separatedBy: Self.person).map { SQL(unsafe: $0) }
        return SQL.join(parts, separator: "\(person.uuid)")
    }
}

extension ExportTable.Sealed {
    fileprivate func open(_ text: String, of owner: UserID, _ keys: any DataKeys) async throws -> JSONValue {
        guard let key = try await keys.key(for: owner) else { return .string(SealedField.erasedText) }
        let context = SealContext(user: owner.uuid, field: self.field)
        let opened = try SealedField(text: text).open(key: key, context: context)
        return self.isJSON ? JSONValue(text: opened) ?? .string(opened) : .string(opened)
    }
}

/// What the program got wrong in a declaration.
enum ExportProblem: Error {
    /// A row is no object.
    case noObject
    /// A column is sealed, and the service opens nothing.
    case noKeys
}
