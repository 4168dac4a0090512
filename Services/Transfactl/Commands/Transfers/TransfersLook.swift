import ArgumentParser
import Contracts

/// `transfactl transfers list`.
struct TransfersList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Transfers in a state: under way with the oldest first, ended with the newest first."
    )

    @OptionGroup var output: EventOutput

    @Option(help: "accepted, submitted, unknown, completed, failed or reversed.")
    var state = "unknown"

    @OptionGroup var most: ListLimit

    private static let states = ["accepted", "submitted", "unknown", "completed", "failed", "reversed"]

    func validate() throws {
        guard Self.states.contains(self.state) else {
            throw ValidationError("--state is one of: \(Self.states.joined(separator: ", "))")
        }
    }

    func run() async throws {
        let path = "/internal/transfers?state=\(self.state)&limit=\(self.most.limit)"
        try await TransfersCommand.list(path, self.output) { $0.line }
    }
}

/// `transfactl transfers show <id>`.
struct TransfersShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "One transfer: its history, the calls to the provider, what it said, and what was proposed."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The transfer's id.")
    var id: UUIDText

    func run() async throws {
        let isJSON = self.output.isJSON
        let call = Call.get(.internalPort(.transaction), "/internal/transfers/\(self.id.text)")
        try await TransfersCommand.show(call) { found in
            let transfer = ShownTransfer(found)
            for line in isJSON ? [transfer.json] : transfer.lines { EventsCommand.write(line) }
        }
    }
}

/// `transfactl transfers proposals`.
struct TransfersProposals: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proposals",
        abstract: "What waits for the approval of another operator, the oldest first."
    )

    @OptionGroup var output: EventOutput

    func run() async throws {
        try await TransfersCommand.list("/internal/transfer-proposals", self.output) { proposal in
            "\(proposal["transaction_id"])  \(proposal.proposalLine)"
        }
    }
}

/// How many of a list are shown.
struct ListLimit: ParsableArguments {
    @Option(help: "The most lines.")
    var limit = 100

    func validate() throws {
        guard (1...1000).contains(self.limit) else { throw ValidationError("--limit is from 1 to 1000") }
    }
}
