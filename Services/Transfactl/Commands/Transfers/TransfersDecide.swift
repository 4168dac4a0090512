import ArgumentParser
import Contracts

/// `transfactl transfers settle <id>`.
struct TransfersSettle: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "settle",
        abstract: "Proposes how an unknown transfer ended; nothing moves before another operator approves."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The transfer's id.")
    var id: UUIDText

    @Option(help: "completed: the money has arrived; failed: it never left.")
    var outcome: String

    @OptionGroup var acting: OperatorOptions

    func validate() throws {
        guard ["completed", "failed"].contains(self.outcome) else {
            throw ValidationError("--outcome is completed or failed")
        }
    }

    func run() async throws { try await Proposing.propose(self.outcome, self.id, self.acting, self.output) }
}

/// `transfactl transfers reverse <id>`.
struct TransfersReverse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reverse",
        abstract: "Proposes to book that the provider took a completed transfer back and did not tell."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The transfer's id.")
    var id: UUIDText

    @OptionGroup var acting: OperatorOptions

    func run() async throws { try await Proposing.propose("reversed", self.id, self.acting, self.output) }
}

/// `transfactl transfers approve <proposal>`.
struct TransfersApprove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve",
        abstract: "Approves what another operator proposed, and does it."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The proposal's id.")
    var proposal: UUIDText

    @Option(name: .customLong("operator"), help: "Who approves: another than who proposed.")
    var operatorName: String

    func run() async throws {
        let path = "/internal/transfer-proposals/\(self.proposal.text)/approve"
        let call = try Call.post(.internalPort(.transaction), path, Proposing.Nothing())
        try await Proposing.decide(call.inName(of: self.operatorName), self.output)
    }
}

/// `transfactl transfers withdraw <proposal>`.
struct TransfersWithdraw: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "withdraw",
        abstract: "Withdraws a proposal; whoever disagrees may do it too."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The proposal's id.")
    var proposal: UUIDText

    @OptionGroup var acting: OperatorOptions

    func run() async throws {
        let path = "/internal/transfer-proposals/\(self.proposal.text)/withdraw"
        let call = try Call.post(.internalPort(.transaction), path, self.acting.order)
        try await Proposing.decide(call.inName(of: self.acting.name), self.output)
    }
}

/// What the commands about decisions share.
private enum Proposing {
    struct Nothing: Encodable {}

    private struct Proposal: Encodable {
        let outcome: String
        let reason: String
    }

    static func propose(
        _ outcome: String,
        _ id: UUIDText,
        _ acting: OperatorOptions,
        _ output: EventOutput
    ) async throws {
        let proposal = Proposal(outcome: outcome, reason: acting.reason)
        let call = try Call.post(.internalPort(.transaction), "/internal/transfers/\(id.text)/proposals", proposal)
        try await TransfersCommand.show(call.inName(of: acting.name)) { found in
            let made = ShownTransfer(found)
            EventsCommand.write(output.isJSON ? made.json : "\(made.proposalLine); open until \(made["expires_at"])")
        }
    }

    static func decide(_ call: Call, _ output: EventOutput) async throws {
        try await TransfersCommand.show(call) { found in
            let decided = ShownTransfer(found)
            EventsCommand.write(output.isJSON ? decided.json : "proposal \(decided["id"]) is \(decided["state"])")
        }
    }
}
