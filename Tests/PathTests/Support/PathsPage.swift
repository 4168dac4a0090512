import Foundation
import TestSupport

/// The page that says what must follow when money moves, as it is committed.
struct PathsPage {
    /// By way, by place: what is expected.
    private(set) var cells: [String: [String: String]] = [:]

    static let path = Repository.path("Services/Transaction/Functions/paths.md")

    static func read() throws -> PathsPage {
        PathsPage(text: try String(contentsOfFile: Self.path, encoding: .utf8))
    }

    /// Tables of Markdown: the first column is the way, the head has the places.
    init(text: String) {
        var places: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            guard line.hasPrefix("|") else {
                places = []
                continue
            }
            let fields = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
            if places.isEmpty {
                places = fields
            } else if !fields.allSatisfy({ $0.allSatisfy { $0 == "-" } && $0.count >= 3 }), let way = fields.first {
                for (place, word) in zip(places, fields).dropFirst() { self.cells[way, default: [:]][place] = word }
            }
        }
    }

    /// The tables, from what was seen.
    static func tables(
        _ groups: [(title: String, places: [String])],
        _ seen: [(way: String, cells: [String: String])]
    )
        -> String
    {
        groups.map { group in
            let head = "| way | " + group.places.joined(separator: " | ") + " |"
            let rule = "|" + String(repeating: "---|", count: group.places.count + 1)
            let rows = seen.map { row in
                "| \(row.way) | " + group.places.map { row.cells[$0] ?? "?" }.joined(separator: " | ") + " |"
            }
            return "## \(group.title)\n\n" + ([head, rule] + rows).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }
}
