import ArgumentParser
import Contracts

/// `transfactl reconcile look`: compares the provider's books with ours; fails while a break is open.
struct ReconcileLook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "look",
        abstract: "Compares the provider's books with ours.",
        discussion: """
            Prints what differs. A difference is suspected until it is found again 15 minutes later, which happens by \
            itself; the exit code is 1 while one is open.
            """
    )

    @OptionGroup var output: OutputOptions

    @Option(help: "Only the account of this user (a UUID); without it all accounts.")
    var user: UUIDText?

    @Option(help: "The most seconds to wait for the looks.")
    var wait = 60

    @Flag(help: "Only print what is known, without looking again.")
    var known = false

    @Option(name: .customLong("operator"), help: "Who looks; not needed with --known.")
    var operatorName: String?

    private struct Order: Encodable {
        let user: String?

        private enum CodingKeys: String, CodingKey {
            case user = "user_id"
        }
    }

    private struct Asked: Decodable {
        let accounts: Int
    }

    private struct Breaks: Decodable {
        struct Break: Decodable {
            struct Note: Decodable {
                let text: String
                let author: String
                let writtenAt: String

                private enum CodingKeys: String, CodingKey {
                    case text, author
                    case writtenAt = "written_at"
                }
            }

            let id: Int64
            let account: String
            let kind: String
            let key: String
            let ours: String?
            let theirs: String?
            let state: String
            let firstSeen: String
            let notes: [Note]

            private enum CodingKeys: String, CodingKey {
                case id, account, kind, key, ours, theirs, state, notes
                case firstSeen = "first_seen"
            }
        }

        let breaks: [Break]
        let open: Int
        let waiting: Int
    }

    func validate() throws {
        guard (1...3600).contains(self.wait) else { throw ValidationError("--wait is from 1 to 3600") }
        guard self.known != (self.operatorName != nil) else {
            throw ValidationError("--operator says who looks again, --known that nobody does: one of them")
        }
    }

    func run() async throws {
        try await self.output.reporting { caller, report throws(Failure) in
            try await self.reconcile(caller, report)
        }
    }

    private func reconcile(_ caller: Caller, _ report: Report) async throws(Failure) {
        if let operatorName {
            let path = "/internal/reconciliations"
            let call = try Call.post(.internalPort(.transaction), path, Order(user: self.user?.text))
            let answer = try await caller.send(call.inName(of: operatorName)).expecting(202)
            report.note("looking at \(try answer.decode(Asked.self).accounts) accounts")
        }
        let found = try await self.found(caller)
        for entry in found.breaks {
            let sides = "ours \(entry.ours ?? "nothing"), theirs \(entry.theirs ?? "nothing")"
            let text = "#\(entry.id) \(entry.account) \(entry.key): \(sides), since \(entry.firstSeen)"
            if entry.state == "open" {
                report.check("\(entry.kind) is settled", false, text)
            } else {
                report.note("suspected \(entry.kind): \(text)")
            }
            for note in entry.notes { report.note("\(note.writtenAt) \(note.author): \(note.text)") }
        }
        report.check("no break is open", found.open == 0, "\(found.open) open, \(found.breaks.count) known")
    }

    /// What is known once all looks that were asked for are done.
    private func found(_ caller: Caller) async throws(Failure) -> Breaks {
        let query = self.user.map { "?user_id=\($0.text)" } ?? ""
        let call = Call.get(.internalPort(.transaction), "/internal/reconciliations/breaks" + query)
        let deadline = ContinuousClock.now + .seconds(self.wait)
        while true {
            let answer = try await caller.send(call).expecting()
            let found = try answer.decode(Breaks.self)
            if found.waiting == 0 || self.known { return found }
            guard ContinuousClock.now < deadline else {
                throw Failure("After \(self.wait) s \(found.waiting) accounts are still to be looked at.")
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
    }
}
