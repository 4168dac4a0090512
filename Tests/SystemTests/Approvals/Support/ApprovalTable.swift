import Foundation
import TestSupport

/// The page of what ends an approval: per change and means what each place answers.
struct ApprovalTable: Sendable {
    /// A change, and how the request was approved before it.
    struct Row: Hashable, Sendable {
        let change: String
        let means: String
    }

    static let path = "Shared/ServiceKit/Approval/approvals.md"

    let text: String
    /// Operations, in the order of the columns.
    let places: [String]
    let cells: [Row: [String: ExpectedAnswer]]

    /// Reads the table of the repository.
    static func read() throws -> ApprovalTable {
        try ApprovalTable(markdown: String(contentsOfFile: Repository.path(self.path), encoding: .utf8))
    }

    /// Reads the first table of a page.
    init(markdown: String) throws {
        let lines = markdown.components(separatedBy: "\n").drop { !$0.hasPrefix("| ") }.prefix { $0.hasPrefix("|") }
        let rows = lines.map { line in
            line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        guard let head = rows.first, head.count > 2 else { throw TestFailure("\(Self.path) has no table") }
        let places = head.dropFirst(2).map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "`")) }
        var cells: [Row: [String: ExpectedAnswer]] = [:]
        for row in rows.dropFirst(2) {
            guard row.count == head.count else { throw TestFailure("not a row of \(head.count) cells: \(row)") }
            let key = Row(change: row[0], means: row[1])
            guard cells[key] == nil else { throw TestFailure("\(key) has two rows") }
            cells[key] = Dictionary(uniqueKeysWithValues: zip(places, try row.dropFirst(2).map(ExpectedAnswer.init)))
        }
        self.text = markdown
        self.places = places
        self.cells = cells
    }
}
