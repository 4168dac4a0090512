import Foundation
import TestSupport

/// What one asker was answered to one operation.
struct AccessCase: Sendable {
    let operation: String
    let asker: Asker
    /// What tells requests of one cell apart, such as the fault of the token.
    var variant = ""
    let status: Int
    let code: String?
    let text: String

    /// What is wrong with it; nothing when all is as it should be.
    func problems(_ expected: ExpectedAnswer, _ marks: OwnersMarks) -> [String] {
        var problems: [String] = []
        if !expected.allows(status: self.status, code: self.code) {
            problems.append("answered \(self.status) \(self.code ?? ""), wanted \(expected): \(self.text.prefix(300))")
        }
        guard self.asker != .owner else { return problems }
        let seen = marks.secret + (expected.isShared ? [] : marks.recognisable)
        problems += seen.filter { self.text.contains($0) }.map {
            "shows '\($0)' of the owner: \(self.text.prefix(300))"
        }
        return problems.map { "\(self.operation), \(self.asker.rawValue)\(self.variant): \($0)" }
    }

    var answer: String { self.code.map { "\(self.status) \($0)" } ?? String(self.status) }
}

/// What others must not see of the owner.
struct OwnersMarks: Sendable {
    /// What nobody else is ever shown.
    let secret: [String]
    /// What others are shown only where the owner has shared something.
    let recognisable: [String]
}

/// The answers that came, as a table for people.
struct AnsweredMatrix: Sendable {
    private var cells: [String: [Asker: String]] = [:]

    mutating func add(_ answered: AccessCase) {
        var row = self.cells[answered.operation] ?? [:]
        let known = row[answered.asker]
        if let known, known != answered.answer {
            row[answered.asker] = known + ", " + answered.answer
        } else {
            row[answered.asker] = answered.answer
        }
        self.cells[answered.operation] = row
    }

    /// How many cells have an answer.
    var count: Int { self.cells.values.reduce(0) { $0 + $1.count } }

    var text: String {
        let names = Asker.allCases.map(\.rawValue)
        let head = "| operation | \(names.joined(separator: " | ")) |"
        let rows = self.cells.sorted { Self.order($0.key) < Self.order($1.key) }.map { operation, row in
            "| `\(operation)` | " + Asker.allCases.map { row[$0] ?? "" }.joined(separator: " | ") + " |"
        }
        return ([head] + rows).joined(separator: "\n")
    }

    private static func order(_ operation: String) -> String {
        operation.split(separator: " ").reversed().joined(separator: " ")
    }
}
