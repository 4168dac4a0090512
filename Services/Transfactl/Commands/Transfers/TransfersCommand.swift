import ArgumentParser
import Contracts
import Foundation

/// `transfactl transfers`: transfers as operators see them, and what two of them decide.
struct TransfersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transfers",
        abstract: "Transfers, and what two operators decide about one that nobody knows the end of.",
        discussion: """
            One operator proposes with a reason, another approves; a proposal waits for a day. Exit code 0: done; 2: refused, \
            or nobody answers; 4: there is no such transfer or proposal; 64: the command line is wrong.
            """,
        subcommands: [
            TransfersList.self, TransfersShow.self, TransfersProposals.self, TransfersSettle.self,
            TransfersReverse.self,
            TransfersApprove.self, TransfersWithdraw.self,
        ]
    )

    /// Shows a list of the transaction service, one thing per line.
    static func list(_ path: String, _ output: EventOutput, _ line: @escaping (ShownTransfer) -> String) async throws {
        let isJSON = output.isJSON
        try await self.show(.get(.internalPort(.transaction), path)) { found in
            for thing in (found as? [Any] ?? []).map(ShownTransfer.init) {
                EventsCommand.write(isJSON ? thing.json : line(thing))
            }
        }
    }

    /// Sends a call, and shows what came; a refusal is one line on standard error.
    static func show(_ call: Call, _ body: @escaping (Any) -> Void) async throws {
        let answer: Answer
        do throws(Failure) {
            let endpoints = try Endpoints(environment: ProcessInfo.processInfo.environment)
            answer = try await Caller(endpoints).send(call)
        } catch {
            EventsCommand.complain(error.description)
            throw Exit.refused
        }
        guard (200...299).contains(answer.status) else {
            EventsCommand.complain("\(answer.line) was answered \(answer.status) \(Excerpt.of(answer.body))")
            throw answer.isAboutNothing ? Exit.notFound : Exit.refused
        }
        guard let found = try? JSONSerialization.jsonObject(with: Data(answer.body)) else {
            EventsCommand.complain("\(answer.line) was answered with something that is no JSON.")
            throw Exit.refused
        }
        body(found)
    }
}

/// Something that the transaction service says of transfers.
struct ShownTransfer {
    private let members: [String: Any]

    init(_ object: Any) { self.members = object as? [String: Any] ?? [:] }

    subscript(name: String) -> String { self.members[name].map { "\($0)" } ?? "-" }

    /// Whether something of it holds.
    func isTrue(_ name: String) -> Bool { self.members[name] as? Bool ?? false }

    /// A list of things in it.
    func list(_ name: String) -> [ShownTransfer] { (self.members[name] as? [Any] ?? []).map(ShownTransfer.init) }

    /// A list of texts in it.
    func texts(_ name: String) -> [String] { self.members[name] as? [String] ?? [] }

    /// Something in it.
    func part(_ name: String) -> ShownTransfer? { self.members[name].map(ShownTransfer.init) }

    /// As one line of JSON.
    var json: String { ShownEvent.text(of: self.members, []) }

    /// A transfer on one line.
    var line: String {
        let money = "\(self["amount"]) kobo (fee \(self["fee"]), duty \(self["duty"]))"
        let proposal = self.part("proposal").map { "; \($0.proposalLine)" } ?? ""
        return "\(self["id"])  \(self["state"]) since \(self["state_since"])  \(self["type"])  \(money)\(proposal)"
    }

    /// A proposal on one line.
    var proposalLine: String {
        let decided = self.members["decided_by"] == nil ? "" : ", by \(self["decided_by"]) at \(self["decided_at"])"
        let who = "\(self["proposed_by"]) at \(self["proposed_at"])"
        return
            "proposal \(self["id"]) \(self["state"])\(decided): \(self["outcome"]), by \(who), because: \(self["reason"])"
    }

    /// A transfer with all that is known about it.
    var lines: [String] {
        var lines = [self.line]
        lines.append(
            "  reference \(self["reference"]), the provider's id \(self["provider_id"]), session \(self["session_id"])"
        )
        lines += self.list("history").map {
            "  \($0["happened_at"])  \($0["state"]), by \($0["actor"]), on \($0["evidence"])"
        }
        lines += self.list("calls").map { "  call \($0["attempt"]) of \($0["started_at"]): \($0["outcome"])" }
        lines += self.list("answers").map {
            "  asked \($0["times"]) times, the provider said \($0["answer"]), last at \($0["last_seen_at"])"
        }
        lines += self.list("absences").map {
            "  unknown to the provider from \($0["first_seen_at"]) to \($0["last_seen_at"]), after call \($0["attempt"])"
        }
        return lines + self.list("proposals").map { "  \($0.proposalLine)" }
    }
}
