import ArgumentParser
import Contracts

/// `transfactl reconcile`: the provider's books and ours.
struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile",
        abstract: "The provider's books and ours.",
        subcommands: [ReconcileLook.self, Note.self],
        defaultSubcommand: ReconcileLook.self
    )

    /// `transfactl reconcile note <break>`.
    struct Note: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Writes down what was found out about an open break.",
            discussion: "Notes are never changed, change no balance and close no break."
        )

        @OptionGroup var output: OutputOptions

        @Argument(help: "The number that the look shows, without #.")
        var number: Int64

        @Option(help: "What was found out, in one line.")
        var text: String

        @Option(name: .customLong("operator"), help: "Who found it out.")
        var operatorName: String

        private struct Order: Encodable {
            let text: String
        }

        func validate() throws {
            guard self.number > 0 else { throw ValidationError("breaks are numbered from 1") }
        }

        func run() async throws {
            let path = "/internal/reconciliations/breaks/\(self.number)/notes"
            let call = try Call.post(.internalPort(.transaction), path, Order(text: self.text))
                .inName(of: self.operatorName)
            try await self.output.reporting { caller, report throws(Failure) in
                let answer = try await caller.send(call)
                report.act("it is written down", answer)
            }
        }
    }
}
