import Contracts
import Foundation
import Postgres
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

/// Walks every way that money goes, on the real functions and the services that follow them, and holds what is seen at
/// every place to the page; `TRANSFA_WRITE_PATHS=1` writes the tables of the page, for people to decide about.
@Suite("Paths of money")
struct PathTests {
    private static var groups: [(String, [Place])] {
        [
            ("Money", Place.money), ("Rules", Place.rules), ("Products", Place.products),
            ("What people see", Place.shown),
            ("What others make of it", Place.elsewhere),
        ]
    }

    @Test("every way follows every rule and reaches every place as the page says")
    func cells() async throws {
        var seen: [(way: String, cells: [String: String])] = []
        try await PathLedger.withFollowers { ledger, followers in
            for (number, way) in Way.all.enumerated() {
                let walk = PathWalk(ledger, followers, number: number)
                do {
                    try await walk.begins()
                    try await way.walk(walk)
                    seen.append((way.name, try await walk.changes()))
                } catch {
                    Issue.record("\(way.name): \(error)")
                }
                let broken = try await ledger.words("SELECT name || ': ' || detail FROM check_invariants()")
                #expect(broken == [], "after: \(way.name)")
            }
        }
        if ProcessInfo.processInfo.environment["TRANSFA_WRITE_PATHS"] == "1" {
            let tables = PathsPage.tables(Self.groups.map { ($0.0, $0.1.map(\.name)) }, seen)
            let text = try String(contentsOfFile: PathsPage.path, encoding: .utf8)
            let head = text.components(separatedBy: "## Money\n")[0]
            try Data((head + tables).utf8).write(to: URL(fileURLWithPath: PathsPage.path))
        }
        let page = try PathsPage.read()
        var wrong: [String] = []
        for (way, cells) in seen {
            for place in Place.all {
                let expected = page.cells[way]?[place.name] ?? ""
                let found = cells[place.name] ?? ""
                if expected.isEmpty || expected == "?" {
                    wrong.append("nobody has decided: \(way), \(place.name): \(found)")
                } else if found != expected {
                    wrong.append("\(way), \(place.name): \(found), the page says \(expected)")
                }
            }
        }
        #expect(wrong == [], "\(wrong.count) cells")
        let decided = seen.count * Place.all.count
        print("\(seen.count) ways, \(Place.all.count) places, \(decided) cells")
    }

    @Test("the page has no way and no place that is not walked")
    func page() throws {
        let page = try PathsPage.read()
        #expect(Set(page.cells.keys) == Set(Way.all.map(\.name)))
        for (way, cells) in page.cells {
            #expect(Set(cells.keys) == Set(Place.all.map(\.name)), "\(way)")
        }
        #expect(Set(Way.all.map(\.name)).count == Way.all.count)
    }
}
