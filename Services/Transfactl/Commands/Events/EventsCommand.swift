import ArgumentParser
import Foundation

/// `transfactl events`: the archive of all events.
struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Lists, follows, traces and moves archived events.",
        discussion: """
            What is asked for goes to standard output, what went wrong to standard error. Exit code 0: done; 2: refused or \
            unreachable; 4: there is no such event; 64: the command line is wrong.
            """,
        subcommands: [
            EventsList.self, EventsShow.self, EventsTail.self, EventsTrace.self, EventsExport.self, EventsImport.self,
        ]
    )

    /// Nothing was found under an id.
    static let notFound = Exit.notFound

    /// Runs `body` with the archive; a failure is one line on standard error.
    static func with(_ body: (ArchiveClient) async throws(Failure) -> ExitCode) async throws {
        let code: ExitCode
        do throws(Failure) {
            let endpoints = try Endpoints(environment: ProcessInfo.processInfo.environment)
            code = try await body(ArchiveClient(caller: Caller(endpoints)))
        } catch {
            Self.complain(error.description)
            throw Exit.refused
        }
        guard code == .success else { throw code }
    }

    /// Writes a line of what was asked for.
    static func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Writes a line for people beside what was asked for.
    static func note(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    /// Writes a line about what went wrong.
    static func complain(_ line: String) {
        FileHandle.standardError.write(Data("transfactl: \(line)\n".utf8))
    }
}

/// How the commands about events show what they found.
struct EventOutput: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object per line instead of text.")
    var isJSON = false

    /// Writes an event.
    func write(_ event: ShownEvent) { EventsCommand.write(self.isJSON ? event.json : event.text) }
}
