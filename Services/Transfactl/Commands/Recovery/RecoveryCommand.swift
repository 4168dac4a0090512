import ArgumentParser
import Contracts
import Foundation

/// `transfactl recovery`: what follows a restore of the databases, until books and provider agree.
struct RecoveryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery",
        abstract: "Brings a restored ledger up to what the provider did since the backup.",
        discussion: """
            While a recovery is open nothing is sent to the provider and no payment is accepted. Exit code 0: done, and \
            status: no recovery is open; 1: one is open; 2: refused, or nobody answers; 4: there is no recovery; 64: the \
            command line is wrong.
            """,
        subcommands: [
            RecoveryBegin.self, RecoveryStatus.self, RecoveryForgotten.self, RecoveryAccept.self, RecoveryEnd.self,
        ]
    )

    /// The newest recovery.
    static let newest = Call.get(.internalPort(.transaction), "/internal/recoveries/newest")

    /// The id of the newest recovery.
    static func newestID() async throws -> String {
        var id = ""
        try await TransfersCommand.show(self.newest) { id = ShownTransfer($0)["id"] }
        return id
    }

    static func write(_ found: Any, _ output: EventOutput) {
        let recovery = ShownTransfer(found)
        for line in output.isJSON ? [recovery.json] : recovery.recoveryLines { EventsCommand.write(line) }
    }
}

extension ShownTransfer {
    /// A recovery with what is missing of it.
    var recoveryLines: [String] {
        let isOpen = self["state"] == "open"
        let ended = isOpen ? "" : " at \(self["ended_at"]) by \(self["ended_by"]): \(self["end_reason"])"
        let beginning = "\(self["begun_at"]) by \(self["begun_by"]): \(self["reason"])"
        var lines = [
            "recovery \(self["id"]) \(self["state"])\(ended)",
            "  restored to \(self["restored_to"]), begun at \(beginning)",
            "  \(self["forgotten"]) forgotten transfers booked; \(self["accounts"]) accounts to compare",
        ]
        if isOpen, let missing = self.part("missing") {
            lines.append("  missing: \(missing["accounts"]) accounts, \(missing["transfers"]) transfers asked about")
        }
        return lines + self.list("differences").flatMap(\.differenceLines)
    }

    /// What differs on an account, and who has accepted it.
    private var differenceLines: [String] {
        let who = "\(self["accepted_by"]) at \(self["accepted_at"]): \(self["accept_reason"])"
        let accepted = self["accepted_at"] == "-" ? "" : ", accepted by \(who)"
        let others = self.texts("all").dropFirst().map { "    \($0)" }
        let differs = "\(self["account"]) differs \(self["count"]) times, mark \(self["mark"])"
        return ["  \(differs)\(accepted), first \(self["first"])"] + others
    }

    /// A forgotten transfer on one line.
    var forgottenLine: String {
        let reached = self["destination"] == "-" ? "the bank of \(self["counterparty"])" : self["destination"]
        let money = "\(self["amount"]) kobo from \(self["source"]) to \(reached)"
        return "\(self["transaction_id"])  \(money), \(self["status"]) at \(self["made_at"]), "
            + "reference \(self["reference"]), the provider's id \(self["provider_id"])"
    }
}

/// `transfactl recovery begin`.
struct RecoveryBegin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "begin",
        abstract: "Begins a recovery, as the restore does; stops all payments until it is ended."
    )

    @OptionGroup var output: EventOutput

    @Option(name: .customLong("restored-to"), help: "The moment of the backup, such as 2026-05-15T11:00:00Z.")
    var restoredTo: String

    @OptionGroup var acting: OperatorOptions

    private struct Beginning: Encodable {
        let restoredTo: String
        let reason: String

        private enum CodingKeys: String, CodingKey {
            case restoredTo = "restored_to"
            case reason
        }
    }

    func run() async throws {
        let order = Beginning(restoredTo: self.restoredTo, reason: self.acting.reason)
        let call = try Call.post(.internalPort(.transaction), "/internal/recoveries", order)
        let output = self.output
        try await TransfersCommand.show(call.inName(of: self.acting.name)) { RecoveryCommand.write($0, output) }
    }
}

/// `transfactl recovery status`.
struct RecoveryStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "The newest recovery, and what keeps it open; 1 while it is."
    )

    @OptionGroup var output: EventOutput

    func run() async throws {
        let output = self.output
        var isOpen = false
        try await TransfersCommand.show(RecoveryCommand.newest) { found in
            RecoveryCommand.write(found, output)
            isOpen = ShownTransfer(found)["state"] == "open"
        }
        if isOpen { throw Exit.wrong }
    }
}

/// `transfactl recovery forgotten`.
struct RecoveryForgotten: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "forgotten",
        abstract: "Transfers that the provider made and the restored ledger did not know, as they are booked."
    )

    @OptionGroup var output: EventOutput

    @OptionGroup var most: ListLimit

    func run() async throws {
        let path = "/internal/recoveries/\(try await RecoveryCommand.newestID())/forgotten?limit=\(self.most.limit)"
        try await TransfersCommand.list(path, self.output) { $0.forgottenLine }
    }
}

/// `transfactl recovery accept-difference <account>`.
struct RecoveryAccept: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-difference",
        abstract: "Lets what differs on an account hold the recovery open no more, until something else differs there."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The provider's account, as the status names it.")
    var account: AccountText

    @Option(help: "What differs, by the mark that the status shows.")
    var mark: String

    @OptionGroup var acting: OperatorOptions

    private struct Acceptance: Encodable {
        let mark: String
        let reason: String
    }

    func run() async throws {
        let output = self.output
        let place = "/internal/recoveries/\(try await RecoveryCommand.newestID())/accounts/\(self.account.text)/accept"
        let order = Acceptance(mark: self.mark, reason: self.acting.reason)
        let call = try Call.post(.internalPort(.transaction), place, order)
        try await TransfersCommand.show(call.inName(of: self.acting.name)) { RecoveryCommand.write($0, output) }
    }
}

/// The provider's id of an account that a person typed: nothing else gets into a path.
struct AccountText: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
        guard argument.wholeMatch(of: /[A-Za-z0-9_.:-]{1,128}/) != nil else { return nil }
        self.text = argument
    }
}

/// `transfactl recovery end`.
struct RecoveryEnd: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "end",
        abstract: "Ends the recovery, when every account agrees; payments go on then."
    )

    @OptionGroup var output: EventOutput

    @OptionGroup var acting: OperatorOptions

    func run() async throws {
        let output = self.output
        let path = "/internal/recoveries/\(try await RecoveryCommand.newestID())/end"
        let call = try Call.post(.internalPort(.transaction), path, self.acting.order)
        try await TransfersCommand.show(call.inName(of: self.acting.name)) { RecoveryCommand.write($0, output) }
    }
}
