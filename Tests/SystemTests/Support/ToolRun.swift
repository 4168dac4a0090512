import ContractGate
import Foundation
import TestSupport

/// A run of `transfactl`: how it ended and what it wrote, to standard output and standard error alike.
struct ToolRun: Sendable {
    let exit: ChildExit
    let text: String

    /// Runs it to its end, in a folder if one is named.
    init(_ words: [String], _ environment: [String: String] = [:], in folder: String? = nil) async throws {
        let tool = try Repository.product("transfactl")
        let place = folder.map { ["-C", $0] } ?? []
        let child = try ChildProcess("/usr/bin/env", place + [tool] + words, environment: environment)
        self.exit = await child.exit()
        self.text = child.log
        try? FileManager.default.removeItem(atPath: child.logPath)
    }

    /// Its lines as JSON.
    func lines() throws -> [JSONNode] {
        try self.text.split(separator: "\n").map { try JSONNode(json: Data($0.utf8)) }
    }
}

extension RunningSuite {
    /// Runs `transfactl` with what it reads of this suite.
    func run(_ words: String..., extra: [String: String] = [:]) async throws -> ToolRun {
        try await ToolRun(words, self.environment.tool.merging(extra) { $1 })
    }
}
