import Foundation
import Messaging
public import Postgres
public import Primitives
import Sealing

/// What a service holds about a person, as data: the tables that are given, and those that are not.
public struct Exports: Sendable {
    /// A table with a person's id that is not given, and why.
    public struct Excuse: Sendable {
        /// The table.
        public let table: String
        /// Why.
        public let reason: String

        /// Names the table and why.
        public init(_ table: String, because reason: String) {
            self.table = table
            self.reason = reason
        }
    }

    /// The tables that are given, in their order.
    public let tables: [ExportTable]
    /// The tables that are not.
    public let excuses: [Excuse]

    /// Declares them; those of messaging are added.
    public init(_ tables: [ExportTable], excuses: [Excuse] = []) {
        precondition(Set(tables.map(\.title)).count == tables.count, "two tables have one title")
        self.tables = tables
        self.excuses = excuses + Self.ofMessaging
    }

    /// Rows of a page at most: an answer stays far below eight mebibytes.
    public static let pageSize = 200

    /// What every service has.
    private static let ofMessaging: [Excuse] = [
        Excuse("outbox", because: "messages to our other services, kept 30 days; what they tell is in these tables"),
        Excuse("inbox", because: "which messages were handled, without what they say"),
        Excuse("event_sequences", because: "numbers of messages"),
        Excuse("parked_keys", because: "messages that wait for an operator; what they tell is in these tables"),
        Excuse("parked_events", because: "messages that wait for an operator; what they tell is in these tables"),
        Excuse("parked_retries", because: "acts of operators upon messages"),
        Excuse("jobs", because: "work to be done; it names what it is about and repeats what is in these tables"),
        Excuse(
            "idempotency_keys",
            because: "answers kept for a day, so that a request counts once; they repeat these tables"
        ),
        Excuse(
            "audit_log",
            because: "acts of operators; who reads them could learn what we look for, and whom to press"
        ),
    ]

    /// A page of what there is about a person.
    ///
    /// - Parameters:
    ///   - person: Whose data.
    ///   - cursor: What the page before said; nil for the first.
    ///   - client: The database, as worker.
    ///   - keys: What opens sealed columns; nil where none are.
    /// - Returns: Rows of one table; an empty page at the end.
    /// - Throws: `APIError` for a cursor that is none; `PostgresError`; `DataKeyError` when keys cannot be had.
    public func page(
        of person: UserID,
        from cursor: String?,
        on client: PostgresClient,
        keys: (any DataKeys)?
    ) async throws -> ExportPage {
        var place = try self.place(cursor)
        while let (index, after) = place {
            let table = self.tables[index]
            let found = try await client.query(table.page(of: person, after: after, limit: Self.pageSize))
            let following = self.tables.indices.contains(index + 1) ? self.tables[index + 1] : nil
            guard let last = found.last else {
                place = following.map { _ in (index + 1, []) }
                continue
            }
            let isWhole = found.count < Self.pageSize
            let next =
                isWhole
                ? following.map { ExportCursor($0.title) }
                : ExportCursor(table.title, after: try last.decode(String.self, [String].self).1)
            var rows: [JSONValue] = []
            for row in found { rows.append(try await table.opened(row, of: person, keys: keys)) }
            return ExportPage(table: table.title, leftOut: table.leftOut, rows: rows, next: next?.text)
        }
        return ExportPage(table: "", leftOut: [:], rows: [], next: nil)
    }

    private func place(_ cursor: String?) throws -> (index: Int, after: [String])? {
        guard let cursor else { return self.tables.isEmpty ? nil : (0, []) }
        guard let read = ExportCursor(text: cursor),
            let index = self.tables.firstIndex(where: { $0.title == read.title }),
            read.after.isEmpty || read.after.count == self.tables[index].keys.count
        else { throw APIError.invalid(parameter: "cursor", detail: "Only what a page named as next.") }
        return (index, read.after)
    }
}
