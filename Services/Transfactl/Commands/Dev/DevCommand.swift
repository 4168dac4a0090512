import ArgumentParser
import DevSuite
import Foundation

/// `transfactl dev`: a suite of processes on this machine.
struct DevCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev",
        abstract: "Starts, looks at and stops a suite on this machine, for people and for tests.",
        discussion: """
            scripts/run builds, starts the servers, and calls this. A folder keeps ports, secrets, settings, logs and \
            records of what runs; its servers are those of scripts/servers start <folder>/servers. Only for development: \
            all secrets are files of that folder.
            """,
        subcommands: [DevPrepare.self, DevUp.self, DevDown.self, DevStatus.self, DevEnvironment.self]
    )
}

/// The folder of a suite.
struct DevOptions: ParsableArguments {
    @Option(help: "The folder of the suite.")
    var folder = ".run"

    var driver: SuiteDriver { SuiteDriver(SuiteFolder(self.folder)) }
}

extension SuiteDriver {
    /// Runs `body`; whatever goes wrong is a failure in one sentence, with the lines of a log below it if there are any.
    func acting<Result>(_ body: (SuiteDriver) async throws -> Result) async throws(Failure) -> Result {
        do {
            return try await body(self)
        } catch {
            throw Failure("\(error)")
        }
    }
}
