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

    @OptionGroup var waiting: WaitOptions

    var file: PeopleFile { PeopleFile(path: self.people) }

    /// What invented people act with, by the clock that the services have.
    func stage(_ caller: Caller, _ report: Report) async throws(Failure) -> Stage {
        let answer = try await caller.send(.get(.internalPort(.auth), SandboxClock.path)).expecting()
        return Stage(
            caller: caller,
            report: report,
            patience: self.waiting.patience,
            clockOffset: try answer.decode(SandboxClock.Standing.self).offset
        )
    }
}
