import ArgumentParser
import ContractGate
import Foundation

/// Lines of what was asked for go to standard output, lines about what went wrong to standard error.
struct Output: Sendable {
    let isJSON: Bool

    /// Shows something: as a JSON object in a line, or as text.
    func item(_ node: JSONNode, text: @autoclosure () -> String) {
        Self.write(self.isJSON ? Self.line(node) : text())
    }

    /// A line of what was asked for.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// A line about what went wrong.
    static func complain(_ line: String) { FileHandle.standardError.write(Data("transfactl: \(line)\n".utf8)) }

    /// One line of JSON.
    static func line(_ node: JSONNode) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(node) else { preconditionFailure("JSON that was read can be written") }
        return String(decoding: data, as: UTF8.self)
    }
}

/// How commands that look and act show what they find.
struct ShowOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object per line instead of text.")
    var isJSON = false

    var output: Output { Output(isJSON: self.isJSON) }

    /// Runs `body`; a failure is one line on standard error and exit code 2.
    func run(_ body: (Output) async throws(Failure) -> ExitCode) async throws {
        let code: ExitCode
        do throws(Failure) {
            code = try await body(self.output)
        } catch {
            Output.complain(error.description)
            throw Exit.refused
        }
        guard code == .success else { throw code }
    }

    /// Runs `body` with somebody who calls services.
    func calling(_ body: (Caller, Output) async throws(Failure) -> ExitCode) async throws {
        try await self.run { output throws(Failure) in
            let endpoints = try Endpoints(environment: ProcessInfo.processInfo.environment)
            return try await body(Caller(endpoints), output)
        }
    }
}
