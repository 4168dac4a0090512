import ArgumentParser
import Contracts
import Foundation
import Primitives

/// `transfactl user`: what operators do about one person.
struct UserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "user",
        abstract: "What operators do about one person.",
        subcommands: [Erase.self]
    )

    /// `transfactl user erase`: destroys a person's data key.
    struct Erase: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "erase",
            abstract: "Destroys the data key of a person: nothing personal can be read again, anywhere.",
            discussion: "This cannot be taken back. Money that is left stays in the ledger and moves no more."
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The user's id.")
        var user: String

        @Option(help: "The user's id once more: what is erased is erased for ever.")
        var confirm: String

        private struct NoBody: Encodable {}

        func validate() throws {
            guard UUID(text: self.user) != nil else { throw ValidationError("a user id is a UUID") }
            guard self.confirm.lowercased() == self.user.lowercased() else {
                throw ValidationError("--confirm is not the user's id")
            }
        }

        func run() async throws {
            let report = self.output.report
            let isDone = try await Caller.with(try report.endpoints()) { caller in
                await self.erase(caller, report)
                return report.finish()
            }
            guard isDone else { throw ExitCode.failure }
        }

        private func erase(_ caller: Caller, _ report: Report) async {
            let what = "the data key of \(self.user.lowercased()) is destroyed"
            do {
                let path = "/internal/users/\(self.user.lowercased())/erase"
                let answer = try await caller.send(.post(.internalPort(.auth), path, NoBody()))
                report.check(what, answer.status == 204, answer.status == 204 ? "" : "answered \(answer.status)")
            } catch {
                report.check(what, false, "\(error)")
            }
        }
    }
}
