import Foundation
import TestSupport

/// What a cache may do with the answers to one operation: a row of `deploy/gateway/caching.md`.
struct CachingRow: Sendable, Equatable {
    /// On what an answer depends.
    enum Subject: String, Sendable {
        /// Who asks.
        case person
        /// What the path names, for those who may see it.
        case path
        /// Nothing but the path: the same for all who get an answer.
        case nobody
    }

    let control: String
    let hasTag: Bool
    let vary: [String]
    let subject: Subject

    /// What is wrong with the row itself: only what depends on nobody may be shown without being asked for.
    var problems: [String] {
        let words = self.control.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        let isAsked = words.contains("no-store") || words.contains("no-cache")
        var problems: [String] = []
        if self.subject != .nobody, !isAsked || words.contains("public") {
            problems.append("depends on a person and may be shown unasked")
        }
        if words.contains("no-store") == self.hasTag { problems.append("a tag is for what is kept") }
        return problems
    }

    /// How an answer differs from the row; a refusal is kept by nobody.
    func differences(from reply: Reply) -> [String] {
        let isGood = reply.status == 200
        let wanted = [
            ("Cache-Control", [isGood ? self.control : "no-store"], reply.values(of: "Cache-Control")),
            ("Vary", isGood ? self.vary : [], reply.listed("Vary")),
        ]
        var problems = wanted.filter { $0.1 != $0.2 }.map { "\($0.0) is \($0.2), not \($0.1), at \(reply.status)" }
        let tag = reply.header("ETag")
        if (tag != nil) != (isGood && self.hasTag) { problems.append("ETag is \(tag ?? "missing") at \(reply.status)") }
        return problems
    }
}

/// What a cache may do with the answers to each GET.
struct CachingTable: Sendable {
    let rows: [String: CachingRow]

    static let path = "deploy/gateway/caching.md"

    /// Reads the table of the repository.
    static func read() throws -> CachingTable {
        try CachingTable(markdown: String(contentsOfFile: Repository.path(self.path), encoding: .utf8))
    }

    /// Reads the lines of a Markdown table that begin with an operation in back quotes.
    init(markdown: String) throws {
        var rows: [String: CachingRow] = [:]
        for line in markdown.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: CharacterSet(charactersIn: " `")) }
            guard cells.count == 5, ["tag", ""].contains(cells[2]), let subject = CachingRow.Subject(rawValue: cells[4])
            else { throw TestFailure("not a row of five cells: \(line)") }
            guard rows[cells[0]] == nil else { throw TestFailure("\(cells[0]) has two rows") }
            rows[cells[0]] = CachingRow(
                control: cells[1],
                hasTag: cells[2] == "tag",
                vary: cells[3].split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) },
                subject: subject
            )
        }
        self.rows = rows
    }

    /// Operations without a row, rows without an operation, and rows that contradict themselves.
    func differences(from operations: [String]) -> [String] {
        let described = Set(operations)
        let missing = described.subtracting(self.rows.keys).map { "\($0) has no row in \(Self.path)" }
        let stale = Set(self.rows.keys).subtracting(described).map {
            "\($0) has a row in \(Self.path) and is not described"
        }
        let odd = self.rows.flatMap { name, row in row.problems.map { "\(name) \($0)" } }
        return (missing + stale + odd).sorted()
    }
}
