import ArgumentParser
import Contracts
import Foundation

/// `transfactl suspense`: money that wallets may not take, and what two operators do with it.
struct SuspenseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspense",
        abstract: "Money that wallets may not take.",
        discussion: "One operator proposes a release with a reason, another approves or rejects it.",
        subcommands: [List.self, Propose.self, Approve.self, Reject.self]
    )

    /// `transfactl suspense list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "What waits, and what is proposed for it.")

        @OptionGroup var output: OutputOptions

        private struct Money: Decodable {
            struct Release: Decodable {
                let id: String
                let disposition: String
                let reason: String
                let proposedBy: String
                let state: String

                private enum CodingKeys: String, CodingKey {
                    case id
                    case disposition
                    case reason
                    case proposedBy = "proposed_by"
                    case state
                }
            }

            let id: String
            let type: String
            let amount: Int64
            let since: String
            let release: Release?

            var text: String {
                let proposal = self.release.map {
                    ", \($0.disposition) proposed by \($0.proposedBy) as \($0.id), \($0.state): \($0.reason)"
                }
                return "\(self.id) \(self.amount) kobo, \(self.type) of \(self.since)\(proposal ?? "")"
            }
        }

        func run() async throws {
            try await self.output.reporting { caller, report throws(Failure) in
                let answer = try await caller.send(.get(.internalPort(.transaction), "/internal/suspense")).expecting()
                let waiting = try answer.decode([Money].self)
                for money in waiting { report.note(money.text) }
                report.check("what is in suspense is listed", true, "\(waiting.count) entries")
            }
        }
    }

    /// `transfactl suspense propose <id>`.
    struct Propose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Proposes a release.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id that the list shows.")
        var id: UUIDText

        @Option(
            help: "credit: into the wallet; return: back to who sent it; payout: to a bank account of who is closed."
        )
        var disposition: String

        @Option(help: "The verified bank account of a payout.")
        var beneficiary: UUIDText?

        @Option(help: "Why; it stays in the books.")
        var reason: String

        @Option(name: .customLong("operator"), help: "Who proposes.")
        var operatorName: String

        private struct Order: Encodable {
            let disposition: String
            let reason: String
            let beneficiaryID: String?

            private enum CodingKeys: String, CodingKey {
                case disposition
                case reason
                case beneficiaryID = "beneficiary_id"
            }
        }

        func run() async throws {
            let order = Order(
                disposition: self.disposition,
                reason: self.reason,
                beneficiaryID: self.beneficiary?.text
            )
            try await SuspenseCommand.act(
                "/internal/suspense/\(self.id.text)/releases",
                order,
                self.operatorName,
                self.output
            )
        }
    }

    /// `transfactl suspense approve <release>`.
    struct Approve: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Approves what another operator proposed.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id of the release.")
        var release: UUIDText

        @Option(name: .customLong("operator"), help: "Who approves.")
        var operatorName: String

        func run() async throws {
            let path = "/internal/suspense-releases/\(self.release.text)/approve"
            try await SuspenseCommand.act(path, NoOrder(), self.operatorName, self.output)
        }
    }

    /// `transfactl suspense reject <release>`.
    struct Reject: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Rejects what another operator proposed.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id of the release.")
        var release: UUIDText

        @Option(name: .customLong("operator"), help: "Who rejects.")
        var operatorName: String

        func run() async throws {
            let path = "/internal/suspense-releases/\(self.release.text)/reject"
            try await SuspenseCommand.act(path, NoOrder(), self.operatorName, self.output)
        }
    }

    private struct NoOrder: Encodable {}

    private static func act(
        _ path: String,
        _ order: some Encodable,
        _ operatorName: String,
        _ output: OutputOptions
    ) async throws {
        let call = try Call.post(.internalPort(.transaction), path, order).inName(of: operatorName)
        try await output.reporting { caller, report throws(Failure) in
            let answer = try await caller.send(call)
            report.act("it is done", answer)
        }
    }
}

/// An id that a person typed: nothing else gets into a path.
struct UUIDText: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard let id = UUID(uuidString: argument) else { return nil }
        self.text = id.uuidString.lowercased()
    }
}
