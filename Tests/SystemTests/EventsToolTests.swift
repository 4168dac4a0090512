import Contracts
import Foundation
import Primitives
import TestSupport
import Testing

/// `transfactl events`, with all services running.
extension Journeys {
    @Suite struct EventsToolTests {
        private struct Shown: Decodable {
            struct Event: Decodable {
                let id: UUID
                let type: String
            }

            let position: Int64
            let event: Event
        }

        @Test(
            "a payment can be listed, shown, traced and followed on the command line, with exit codes that say how it went"
        )
        func looking() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("toolpays", funding: 20_000)
            let bola = try await suite.person("toolgets")
            let paid = try await suite.pay(from: ada, to: bola, 1500).lowercased
            try await suite.await(try #require(UUID(text: paid)), "completed", within: .seconds(40))
            let listed = try await eventually("both events to be listed", within: .seconds(20)) { () -> [Shown]? in
                let output = try await suite.events(["list", "--subject", paid, "--json"])
                let shown = try output.split(separator: "\n").map {
                    try JSONDecoder().decode(Shown.self, from: Data($0.utf8))
                }
                return shown.count == 2 ? shown : nil
            }
            #expect(listed.map(\.event.type) == ["transaction.completed", "transaction.created"])
            #expect(listed[0].position > listed[1].position)
            let text = try await suite.events(["list", "--subject", paid, "--type", "transaction.created"])
            #expect(text.split(separator: "\n").count == 1 && text.contains(listed[1].event.id.lowercased))

            let shown = try await suite.events(["show", listed[0].event.id.lowercased])
            #expect(shown.contains(#""type" : "transaction.completed""#) && shown.contains(paid))
            let tree = try await suite.events(["trace", "trf-\(paid)"])
            #expect(tree.contains("transaction.created") && tree.contains("transaction.completed"))
            #expect(tree.contains("request or webhook"))
            let json = try await suite.events(["trace", paid, "--json"])
            #expect(json.contains(#""is_complete":true"#))
            let tail = try await suite.events(["tail", "--from", "2026-01-01T00:00:00Z", "--count", "3", "--json"])
            #expect(tail.split(separator: "\n").count == 3)

            #expect(try await suite.exit(["show", UUID().lowercased]) == .code(4))
            #expect(try await suite.exit(["trace", UUID().lowercased]) == .code(4))
            #expect(try await suite.exit(["list", "--from", "yesterday"]) == .code(2))
            #expect(try await suite.exit(["show", "nothing"]) == .code(64))
            #expect(try await suite.exit(["list", "--subject", UUID().lowercased]) == .code(0))
        }

        @Test("what is exported from one archive is the same in the empty one that it is imported into")
        func moving() async throws {
            let suite = try RunningSuite.current
            let ada = try await suite.person("exported", funding: 3000)
            let file = "\(Scratch.directory)/exported-\(Scratch.shortName()).jsonl"
            let selection = ["--subject", ada.id.lowercased]
            let sql = "SELECT body FROM archived_events WHERE subject = '\(ada.id.lowercased)' ORDER BY position"
            try await eventually("her wallet's event", within: .seconds(20)) {
                try await suite.rows("console", sql).contains { $0.contains("wallet.credited") }
            }
            let archived = try await suite.rows("console", sql)
            _ = try await suite.events(["export", "--output", file] + selection)
            let exported = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init)
            #expect(exported == archived && exported.count >= 3)
            #expect(try await suite.exit(["export", "--output", file]) == .code(2), "what is there is not overwritten")
            #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").count == exported.count)
            #expect(try await suite.exit(["import", file]) == .code(2), "an archive that reads the log takes no file")

            try await suite.withEmptyArchive { environment, database in
                let imported = try await suite.events(["import", file], environment)
                #expect(imported == "\(exported.count) events, \(exported.count) of them new\n")
                #expect(try await database.psql("SELECT body FROM archived_events ORDER BY position") == exported)
                #expect(try await suite.exit(["import", file], environment) == .code(2), "it is not empty any more")
                let again = try await suite.events(["import", file, "--add", "--json"], environment)
                #expect(again == #"{"added":0,"seen":\#(exported.count)}"# + "\n")
                let bad = "\(file).bad"
                try "\(exported[0])\n{}\n".write(toFile: bad, atomically: true, encoding: .utf8)
                #expect(try await suite.exit(["import", bad, "--add"], environment) == .code(2))
            }
        }
    }
}

extension RunningSuite {
    /// What a command about events prints.
    fileprivate func events(_ arguments: [String], _ environment: [String: String]? = nil) async throws -> String {
        let tool = try Repository.product("transfactl")
        return try await Command.run(tool, ["events"] + arguments, environment: environment ?? self.environment.tool)
    }

    /// How such a command ends.
    fileprivate func exit(_ arguments: [String], _ environment: [String: String]? = nil) async throws -> ChildExit {
        let tool = try Repository.product("transfactl")
        return try await ChildProcess(tool, ["events"] + arguments, environment: environment ?? self.environment.tool)
            .exit()
    }

    /// Runs `body` with an archive that reads no log, on a database of its own, and what `transfactl` reads to find it.
    fileprivate func withEmptyArchive(_ body: ([String: String], TestDatabase) async throws -> Void) async throws {
        try await withTestDatabase("console") { database in
            var variables = self.environment.variables(of: "console")
            let port = try freePort()
            variables["PORT"] = "\(try freePort())"
            variables["INTERNAL_PORT"] = "\(port)"
            variables["DATABASE_URL"] = database.handlerURL
            variables["WORKER_DATABASE_URL"] = database.workerURL
            variables["MIGRATION_DATABASE_URL"] = database.ownerURL
            variables["ARCHIVE_READS_LOG"] = "false"
            let url = "http://127.0.0.1:\(port)"
            try await withProcess("console", ["--migrate"], environment: variables) { process in
                try await eventually("the other archive to be ready", within: .seconds(60), every: .milliseconds(50)) {
                    guard process.isRunning else { throw TestFailure("it ended") }
                    return try await self.send("GET", "\(url)/health/ready").status == 200
                }
                try await body(self.environment.tool.merging(["CONSOLE_INTERNAL_URL": url]) { $1 }, database)
            }
        }
    }
}
