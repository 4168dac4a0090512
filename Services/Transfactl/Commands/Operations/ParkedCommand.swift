import ArgumentParser
import ContractGate
import Contracts
import Foundation

/// `transfactl parked`: events that could not be handled, and what waits behind them.
struct ParkedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parked",
        abstract: "Events that could not be handled, and those of the same subject that wait behind them.",
        discussion:
            "Nothing overtakes: a retry applies the events of a subject in order and stops at the first that fails.",
        subcommands: [ParkedList.self, ParkedShow.self, ParkedRetry.self, ParkedDiscard.self]
    )

    /// What is parked in a service, of all subjects or of one.
    static func subjects(
        of service: ServiceName,
        about subject: String? = nil,
        _ caller: Caller
    ) async throws(Failure) -> [JSONNode] {
        let plain = CharacterSet(charactersIn: "-._").union(.alphanumerics)
        let name = subject?.addingPercentEncoding(withAllowedCharacters: plain)
        let query = name.map { "?subject=\($0)" } ?? ""
        return try await caller.list(.get(.internalPort(service), "/internal/ops/parked\(query)"))
    }
}

/// `transfactl parked list`.
struct ParkedList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Subjects with parked events, the oldest of each service first."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The services; all of them when none is named.")
    var services: [ServiceArgument] = []

    func run() async throws {
        try await self.show.calling { caller, output throws(Failure) in
            for service in self.services.orAll {
                for subject in try await ParkedCommand.subjects(of: service, caller) {
                    let waiting = subject["waiting"]?.number ?? 0
                    let text = """
                        \(service.rawValue) \(subject["subject"]?.text ?? "") \(subject["reason"]?.text ?? ""), since \
                        \(subject["parked_at"]?.text ?? ""), \(waiting) waiting
                        """
                    output.item(["service": .text(service.rawValue), "parked": subject], text: text)
                }
            }
            return .success
        }
    }
}

/// `transfactl parked show`.
struct ParkedShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "The parked events of a subject, in the order in which they wait."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The service that parked them.")
    var service: ServiceArgument

    @Argument(help: "The subject, as the list shows it.")
    var subject: String

    func run() async throws {
        try await self.show.calling { caller, output throws(Failure) in
            let parked = try await ParkedCommand.subjects(of: self.service.name, about: self.subject, caller)
            guard let found = parked.first else {
                Output.complain("\(self.service.name.rawValue) has parked nothing of \(self.subject).")
                return Exit.notFound
            }
            for event in found["events"]?.elements ?? [] {
                let text = """
                    \(event["id"]?.text ?? "") \(event["type"]?.text ?? ""), \(event["reason"]?.text ?? ""), \
                    \(event["attempts"]?.number ?? 0) attempts, since \(event["parked_at"]?.text ?? "")
                    """
                output.item(event, text: text)
            }
            // The service shows the first of many.
            let rest = (found["waiting"]?.number ?? 0) - Int64(found["events"]?.elements?.count ?? 0)
            if rest > 0 { Output.complain("\(rest) more wait behind these.") }
            return .success
        }
    }
}

/// `transfactl parked retry`.
struct ParkedRetry: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Applies the parked events of a subject, in order.",
        discussion:
            "Exit code 1: one failed again and stays first; 2: another retry is under way; 4: nothing is parked."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The service that parked them.")
    var service: ServiceArgument

    @Argument(help: "The subject, as the list shows it.")
    var subject: String

    @OptionGroup var acting: OperatorOptions

    private struct Order: Encodable {
        let subject: String
        let reason: String
    }

    func run() async throws {
        let order = Order(subject: self.subject, reason: self.acting.reason)
        try await self.show.calling { caller, output throws(Failure) in
            let call = try Call.post(.internalPort(self.service.name), "/internal/ops/parked/retry", order)
            let answer = try await caller.send(call.inName(of: self.acting.name))
            guard answer.status == 200 else { throw answer.refusal }
            let result = try answer.decode(JSONNode.self)
            let outcome = result["outcome"]?.text ?? ""
            let applied = result["applied"]?.number.map { ", \($0) applied" } ?? ""
            let reason = result["reason"]?.text.map { ": \($0)" } ?? ""
            output.item(result, text: "\(outcome)\(applied)\(reason)")
            switch outcome {
            case "applied": return .success
            case "failed_again": return Exit.wrong
            case "nothing_parked": return Exit.notFound
            default: return Exit.refused
            }
        }
    }
}

/// `transfactl parked discard`.
struct ParkedDiscard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard",
        abstract: "Drops one parked event for good; those behind it wait for a retry.",
        discussion: "Its effect is lost: set right by other means what it would have done."
    )

    @OptionGroup var show: ShowOptions

    @Argument(help: "The service that parked it.")
    var service: ServiceArgument

    @Argument(help: "The subject, as the list shows it.")
    var subject: String

    @Argument(help: "The event's id.")
    var event: UUIDText

    @OptionGroup var acting: OperatorOptions

    private struct Order: Encodable {
        let subject: String
        let event: String
        let reason: String
    }

    func run() async throws {
        let order = Order(subject: self.subject, event: self.event.text, reason: self.acting.reason)
        try await self.show.calling { caller, output throws(Failure) in
            let call = try Call.post(.internalPort(self.service.name), "/internal/ops/parked/discard", order)
            return try await caller.act(
                call.inName(of: self.acting.name),
                "the event \(self.event.text) is dropped",
                missing: "\(self.service.name.rawValue) has no parked event \(self.event.text) of \(self.subject).",
                output
            )
        }
    }
}
