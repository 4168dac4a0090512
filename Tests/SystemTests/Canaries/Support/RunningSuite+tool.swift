import Contracts
import Foundation
import Primitives
import TestSupport

extension RunningSuite {
    /// Writes what `transfactl` shows of everything into a folder, a file per command.
    ///
    /// - Parameters:
    ///   - folder: Where.
    ///   - payment: A transfer that has ended.
    ///   - event: An event with personal data.
    /// - Throws: `TestFailure` when a command fails.
    func writeToolOutput(into folder: String, payment: UUID, event: UUID) async throws {
        try await self.events(["export", "--output", "\(folder)/tool-export"])
        var commands = [
            ["events", "list", "--limit", "5000"], ["events", "list", "--limit", "5000", "--json"],
            ["events", "show", event.lowercased], ["events", "show", event.lowercased, "--json"],
            ["events", "trace", payment.lowercased], ["events", "trace", payment.lowercased, "--json"],
            ["transfers", "show", payment.lowercased], ["transfers", "show", payment.lowercased, "--json"],
            ["transfers", "proposals"], ["audit", "list"], ["suspense", "list"], ["dispute", "list"],
        ]
        commands += ["unknown", "completed", "failed", "reversed"].map {
            ["transfers", "list", "--state", $0, "--json"]
        }
        var files: [String: [String]] = [:]
        for words in commands {
            let child = try ChildProcess(
                try Repository.product("transfactl"),
                words,
                environment: self.environment.tool
            )
            // `dispute list` fails while an answer is overdue, and shows it all the same.
            guard await child.exit() == .code(0) || words[0] == "dispute" else {
                throw TestFailure("transfactl \(words): \(child.log.suffix(2000))")
            }
            let lines = child.log.split(separator: "\n").map { "transfactl-\(words[0]) \($0)" }
            files["tool-\(words[0])", default: []] += lines
            try? FileManager.default.removeItem(atPath: child.logPath)
        }
        for (name, lines) in files {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
    }

    private func events(_ words: [String]) async throws {
        // Everything that was ever published, on a slow machine.
        try await Command.run(
            try Repository.product("transfactl"),
            ["events"] + words,
            environment: self.environment.tool,
            within: .seconds(600)
        )
    }
}
