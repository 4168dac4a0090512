import ArgumentParser
import Contracts

/// `transfactl dispute`: problems that people have reported, and what operators do about them.
struct DisputeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dispute",
        abstract: "Problems with transfers that people have reported.",
        discussion: "Each is to be answered within 72 hours. None of these commands moves money.",
        subcommands: [List.self, Read.self, Reply.self, Close.self]
    )

    /// `transfactl dispute list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "What is not closed, the most urgent first; fails while something is overdue."
        )

        @OptionGroup var output: OutputOptions

        private struct Entry: Decodable {
            let id: String
            let transactionID: String
            let reason: String
            let state: String
            let dueAt: String
            let overdue: Bool

            private enum CodingKeys: String, CodingKey {
                case id, reason, state, overdue
                case transactionID = "transaction_id"
                case dueAt = "due_at"
            }

            var text: String { "\(self.id) \(self.state), \(self.reason) of \(self.transactionID), due \(self.dueAt)" }
        }

        func run() async throws {
            try await self.output.reporting { caller, report throws(Failure) in
                let answer = try await caller.send(.get(.internalPort(.transaction), "/internal/disputes?limit=1000"))
                    .expecting()
                let pending = try answer.decode([Entry].self)
                for entry in pending { report.note(entry.text) }
                let overdue = pending.count { $0.overdue }
                report.check("nothing is overdue", overdue == 0, "\(overdue) overdue, \(pending.count) not closed")
            }
        }
    }

    /// `transfactl dispute read <id>`.
    struct Read: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "What a person has written, and what was answered.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id that the list shows.")
        var id: UUIDText

        @OptionGroup var acting: OperatorOptions

        private struct Words: Decodable {
            let text: String?
            let answer: String?
        }

        func run() async throws {
            let path = "/internal/disputes/\(self.id.text)/read"
            let call = try Call.post(.internalPort(.transaction), path, self.acting.order).inName(of: self.acting.name)
            try await self.output.reporting { caller, report throws(Failure) in
                let answer = try await caller.send(call).expecting()
                let words = try answer.decode(Words.self)
                report.note("reported: \(words.text ?? "can no longer be read")")
                if let reply = words.answer { report.note("answered: \(reply)") }
                report.check("it was read", true, "and that stands in the audit")
            }
        }
    }

    /// `transfactl dispute answer <id>`.
    struct Reply: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "answer", abstract: "Answers; the person is told.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id that the list shows.")
        var id: UUIDText

        @Option(help: "What the person reads, in one line.")
        var answer: String

        @OptionGroup var acting: OperatorOptions

        private struct Order: Encodable {
            let answer: String
            let reason: String
        }

        func run() async throws {
            let order = Order(answer: self.answer, reason: self.acting.reason)
            try await DisputeCommand.act("answer", self.id, order, self.acting, self.output)
        }
    }

    /// `transfactl dispute close <id>`.
    struct Close: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Closes a report; the person is told.")

        @OptionGroup var output: OutputOptions

        @Argument(help: "The id that the list shows.")
        var id: UUIDText

        @Option(help: "refunded, corrected, explained or declined.")
        var outcome: String

        @OptionGroup var acting: OperatorOptions

        private struct Order: Encodable {
            let outcome: String
            let reason: String
        }

        func validate() throws {
            guard DisputeEnd(rawValue: self.outcome) != nil else {
                throw ValidationError("--outcome is refunded, corrected, explained or declined")
            }
        }

        func run() async throws {
            let order = Order(outcome: self.outcome, reason: self.acting.reason)
            try await DisputeCommand.act("close", self.id, order, self.acting, self.output)
        }
    }

    // MARK: Parts

    private static func act(
        _ name: String,
        _ id: UUIDText,
        _ order: some Encodable,
        _ acting: OperatorOptions,
        _ output: OutputOptions
    ) async throws {
        let path = "/internal/disputes/\(id.text)/\(name)"
        let call = try Call.post(.internalPort(.transaction), path, order).inName(of: acting.name)
        try await output.reporting { caller, report throws(Failure) in
            let answer = try await caller.send(call)
            report.act("it is done", answer)
        }
    }
}
