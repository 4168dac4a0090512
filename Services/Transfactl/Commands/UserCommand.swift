import ArgumentParser
import Contracts

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
            discussion: """
                This cannot be taken back. Unless transaction has just said that nothing is left, the first order is a \
                proposal, and another operator has to give the same one within a day.
                """
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The user's id.")
        var user: UUIDText

        @Option(help: "The user's id once more: what is erased is erased for ever.")
        var confirm: UUIDText

        @OptionGroup var acting: OperatorOptions

        func validate() throws {
            guard self.confirm.text == self.user.text else { throw ValidationError("--confirm is not the user's id") }
        }

        func run() async throws {
            let path = "/internal/users/\(self.user.text)/erase"
            let call = try Call.post(.internalPort(.auth), path, self.acting.order).inName(of: self.acting.name)
            try await self.output.reporting { caller, report throws(Failure) in
                let answer = try await caller.send(call)
                let isProposed = answer.status == 202
                report.act("the data key of \(self.user.text) is \(isProposed ? "to be " : "")destroyed", answer)
                if isProposed { report.note("another operator has to order it too, or this one once nothing is left") }
            }
        }
    }
}
