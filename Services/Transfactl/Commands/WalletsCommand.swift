import ArgumentParser
import Contracts

/// `transfactl wallets`: wallets that send nothing until an operator has looked.
struct WalletsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wallets",
        abstract: "Wallets that send nothing until an operator has looked.",
        discussion: """
            A wallet is blocked when money was taken back that had been spent, until what comes in has paid it, or \
            when what a restored ledger had forgotten took it below zero. Exit code 0: done; 2: refused, or nobody answers; \
            4: there is no such wallet; 64: the command line is wrong.
            """,
        subcommands: [Blocked.self, Unblock.self]
    )

    /// `transfactl wallets blocked`.
    struct Blocked: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Blocked wallets, and what is owed to us.")

        @OptionGroup var output: EventOutput

        @OptionGroup var most: ListLimit

        func run() async throws {
            try await TransfersCommand.list("/internal/wallets/blocked?limit=\(self.most.limit)", self.output) {
                wallet in
                let below = wallet.isTrue("below_zero") ? ", below zero" : ""
                let money = "\(wallet["posted"]) kobo posted, \(wallet["held"]) held\(below)"
                return "\(wallet["user_id"])  \(money); \(wallet["owed"]) owed to us"
            }
        }
    }

    /// `transfactl wallets unblock <user>`.
    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Lets a wallet send again; refused while it is below zero. A debt stays, and what comes in pays it."
        )

        @OptionGroup var output: EventOutput

        @Argument(help: "The user's id.")
        var user: UUIDText

        @Option(help: "What is owed, in kobo, as the list says.")
        var owed: Int64

        @OptionGroup var acting: OperatorOptions

        private struct Release: Encodable {
            let owed: Int64
            let reason: String
        }

        func run() async throws {
            let isJSON = self.output.isJSON
            let path = "/internal/wallets/\(self.user.text)/unblock"
            let order = Release(owed: self.owed, reason: self.acting.reason)
            let call = try Call.post(.internalPort(.transaction), path, order)
            try await TransfersCommand.show(call.inName(of: self.acting.name)) { found in
                let wallet = ShownTransfer(found)
                let text = "the wallet of \(wallet["user_id"]) is \(wallet["state"])"
                EventsCommand.write(isJSON ? wallet.json : text)
            }
        }
    }
}
