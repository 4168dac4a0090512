import ArgumentParser
import Contracts
import Foundation

/// `transfactl sandbox`: what only a world that is played can do.
struct SandboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Invents people, gives them money, lets things go wrong, and moves the clocks.",
        discussion: "For a suite in the sandbox profile alone, such as that of scripts/run.",
        subcommands: [SandboxPerson.self, SandboxFund.self, SandboxFault.self, SandboxClock.self]
    )
}

/// The people that `transfactl sandbox person` has invented.
struct PeopleOptions: ParsableArguments {
    @Option(help: "The file in which invented people are kept.")
    var people = ".run/people.json"

    @Option(name: .customLong("wait"), help: "The most seconds that one wait may take.")
    var waitSeconds = 60

    var file: PeopleFile { PeopleFile(path: self.people) }

    func validate() throws {
        guard (1...3600).contains(self.waitSeconds) else { throw ValidationError("--wait is from 1 to 3600 seconds") }
    }

    /// What invented people act with, by the clock that the services have.
    func stage(_ caller: Caller, _ report: Report) async throws(Failure) -> Stage {
        let answer = try await caller.send(.get(.internalPort(.auth), SandboxClock.path)).expecting()
        return Stage(
            caller: caller,
            report: report,
            patience: .seconds(self.waitSeconds),
            clockOffset: try answer.decode(SandboxClock.Standing.self).offset
        )
    }
}
