import Foundation
import TestSupport

/// Who sends a request of the authorization matrix: the columns of `deploy/gateway/authorization.md`, in their order.
enum Asker: String, CaseIterable, Sendable {
    /// Nobody who could be told from others.
    case nobody = "no token"
    /// A person who asks for what is the owner's.
    case stranger = "other user"
    case owner
    /// A merchant that receives only, asking for its own.
    case merchant = "receive-only merchant"
    /// A person whose account is frozen, asking for their own.
    case frozen = "frozen account"
    /// A person whose profile is closed, asking for what was their own.
    case closed = "closed account"
}

/// What may be answered to one operation when one asker calls it, as a cell says it.
///
/// `200`, `200 or 202`, `403 receive_only` (status and error code), `200 shared`: an answer in which the owner may be
/// recognised, because the owner has shared it.
struct ExpectedAnswer: Sendable, CustomStringConvertible {
    private struct Choice {
        let status: Int
        let code: String?
    }

    static let sharedWord = "shared"

    let description: String
    let isShared: Bool
    private let choices: [Choice]

    /// - Throws: `TestFailure` when the cell is not written as it must be.
    init(_ cell: String) throws {
        self.description = cell
        var isShared = false
        self.choices = try cell.components(separatedBy: " or ").map { text in
            let words = text.split(separator: " ").map(String.init)
            guard let status = words.first.flatMap({ Int($0) }), (200...599).contains(status), words.count <= 2 else {
                throw TestFailure("a cell says '\(cell)'")
            }
            if words.last == Self.sharedWord { isShared = true }
            return Choice(status: status, code: words.dropFirst().first { $0 != Self.sharedWord })
        }
        self.isShared = isShared
    }

    func allows(status: Int, code: String?) -> Bool {
        self.choices.contains { $0.status == status && ($0.code == nil || $0.code == code) }
    }
}

/// The authorization matrix: per operation what each asker is answered.
struct AuthorizationTable: Sendable {
    let rows: [String: [Asker: ExpectedAnswer]]

    static let path = "deploy/gateway/authorization.md"

    /// Reads the table of the repository.
    static func read() throws -> AuthorizationTable {
        try AuthorizationTable(markdown: String(contentsOfFile: Repository.path(self.path), encoding: .utf8))
    }

    /// Reads the lines of a Markdown table that begin with an operation in back quotes.
    init(markdown: String) throws {
        var rows: [String: [Asker: ExpectedAnswer]] = [:]
        for line in markdown.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 1 + Asker.allCases.count else {
                throw TestFailure("not a row of \(1 + Asker.allCases.count) cells: \(line)")
            }
            let operation = cells[0].trimmingCharacters(in: CharacterSet(charactersIn: "`"))
            guard rows[operation] == nil else { throw TestFailure("\(operation) has two rows") }
            let answers = try cells.dropFirst().map { try ExpectedAnswer($0) }
            rows[operation] = Dictionary(uniqueKeysWithValues: zip(Asker.allCases, answers))
        }
        self.rows = rows
    }

    /// Operations without a row, and rows without an operation.
    func differences(from operations: [String]) -> [String] {
        let described = Set(operations)
        let missing = described.subtracting(self.rows.keys).map { "\($0) has no row in \(Self.path)" }
        let stale = Set(self.rows.keys).subtracting(described).map {
            "\($0) has a row in \(Self.path) and is not described"
        }
        return (missing + stale).sorted()
    }
}
