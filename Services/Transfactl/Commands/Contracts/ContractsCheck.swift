import ArgumentParser
import ContractGate
import Foundation

/// `transfactl contracts check`: which change breaks whom.
struct ContractsCheck: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compares the events of this build with those of a release; fails when a consumer would break.",
        discussion: """
            Old and new must understand each other both ways, because events wait and are replayed and a service can be \
            rolled back alone. Exit code 0: nothing breaks; 1: something does, or an accepted break is none; 2: a document \
            cannot be read.
            """
    )

    @OptionGroup var show: ShowOptions

    @Option(help: "A file, or a git ref whose deploy/events/asyncapi.json is meant.")
    var against: String

    @Option(help: "A document to compare instead of this build: a file or a git ref.")
    var candidate: String?

    @Option(help: "A JSON file with breaks that are meant to be.")
    var accepted: String?

    func run() async throws {
        try await self.show.run { output throws(Failure) in
            let before = try Self.document(self.against)
            let after =
                if let candidate = self.candidate {
                    try Self.document(candidate)
                } else {
                    try ContractsCommand.ofThisBuild()
                }
            let changes = ContractComparison(before: before, after: after).changes
            let accepted = try self.accepted.map(Self.acceptedChanges) ?? []
            var breaks = 0
            for change in changes {
                let isAccepted = change.isBreaking && accepted.contains { $0.covers(change) }
                breaks += change.isBreaking && !isAccepted ? 1 : 0
                Self.show(change, isAccepted: isAccepted, output)
            }
            let idle = accepted.filter { entry in !changes.contains { $0.isBreaking && entry.covers($0) } }
            for entry in idle { Self.show(entry, output) }
            Self.sumUp(changes.count, breaks, output)
            return breaks == 0 && idle.isEmpty ? .success : Exit.wrong
        }
    }

    // MARK: What is shown

    private static func show(_ change: ContractChange, isAccepted: Bool, _ output: Output) {
        let verdict = isAccepted ? "accepted" : change.isBreaking ? "BREAKS" : "ok"
        let whom = change.consumers.isEmpty ? "" : " Stops: \(change.consumers.joined(separator: ", "))."
        let node: JSONNode = [
            "kind": "change", "change": .text(change.kind.rawValue), "event": .text(change.event),
            "place": .text(change.place), "breaks": .boolean(change.isBreaking), "accepted": .boolean(isAccepted),
            "consumers": .list(change.consumers.map(JSONNode.text)), "text": .text(change.text),
        ]
        output.item(node, text: "\(verdict) \(change.kind.rawValue): \(change.text)\(whom)")
    }

    private static func show(_ entry: AcceptedChange, _ output: Output) {
        let text = "\(entry.change) of \(entry.event) \(entry.place) is accepted and is no break: remove the entry."
        output.item(["kind": "stale_entry", "text": .text(text)], text: "STALE \(text)")
    }

    private static func sumUp(_ changes: Int, _ breaks: Int, _ output: Output) {
        let node: JSONNode = ["kind": "result", "changes": .number(Int64(changes)), "breaks": .number(Int64(breaks))]
        output.item(node, text: "\(changes) changes, \(breaks) of them break somebody.")
    }

    // MARK: What is read

    private static func acceptedChanges(_ path: String) throws(Failure) -> [AcceptedChange] {
        guard let text = FileManager.default.contents(atPath: path) else {
            throw Failure("\(path) cannot be read.")
        }
        do {
            return try AcceptedChange.list(json: text)
        } catch {
            throw Failure("\(path) is no list of changes with change, event, place and why.")
        }
    }

    private static func document(_ name: String) throws(Failure) -> EventDocument {
        if let text = FileManager.default.contents(atPath: name) {
            return try ContractsCommand.read(text, from: name)
        }
        return try ContractsCommand.read(try GitFile.read("deploy/events/asyncapi.json", at: name), from: name)
    }
}
