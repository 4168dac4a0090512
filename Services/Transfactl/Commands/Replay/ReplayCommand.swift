import ArgumentParser
import Contracts
import Foundation

/// `transfactl replay`: one service handles archived events again.
struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Lets one service handle archived events again.",
        discussion: """
            Nothing takes effect twice: a service drops what its inbox knows. What is asked for goes to standard output, \
            progress and what went wrong to standard error. Exit code 0: done, and a dry run found no difference; 1: it \
            failed or was cancelled; 2: refused or unreachable; 3: a dry run found differences; 4: there is nothing to \
            replay, or no such replay; 5: done, but some events were refused or failed; 64: the command line is wrong.
            """,
        subcommands: [
            ReplayPlan.self, ReplayRun.self, ReplayList.self, ReplayShow.self, ReplayCancel.self, ReplayResume.self,
        ],
        defaultSubcommand: ReplayRun.self
    )

    /// A dry run found differences.
    static let differs = ExitCode(3)
    /// There is nothing to replay, or no such replay.
    static let nothing = Exit.notFound
    /// Some events were refused, or their handlers failed.
    static let troubled = ExitCode(5)

    /// Runs `body` with console; a failure is one line on standard error.
    static func with(_ body: (ReplayClient) async throws(Failure) -> ExitCode) async throws {
        try await EventsCommand.with { archive throws(Failure) in try await body(ReplayClient(caller: archive.caller)) }
    }

    /// Follows one to its end and says what came of it.
    static func follow(
        _ replay: ShownReplay,
        _ client: ReplayClient,
        _ output: EventOutput
    ) async throws(Failure) -> ExitCode {
        let bar = ProgressBar()
        let begin = (time: ContinuousClock.now, done: replay.done)
        let end = try await client.follow(replay) { now in
            let seconds = max(1, (ContinuousClock.now - begin.time) / .seconds(1))
            let rate = "events, \(Int(Double(now.done - begin.done) / seconds)) a second"
            if !output.isJSON { bar.show(now.done, of: now.planned, now.error ?? rate) }
        }
        if !output.isJSON { bar.end() }
        try await self.show(end, client, output)
        switch end.state {
        case "finished" where end.troubled > 0: return Self.troubled
        case "finished" where end.differing > 0: return Self.differs
        case "finished": return end.done == 0 && end.planned == 0 ? Self.nothing : .success
        default: return .failure
        }
    }

    /// What came of one: the differences of a dry run, events that took no effect, and the result.
    static func show(_ replay: ShownReplay, _ client: ReplayClient, _ output: EventOutput) async throws(Failure) {
        if replay.isDryRun {
            for change in try await client.changes(of: replay.id) {
                for line in output.isJSON ? [change.json] : change.lines { EventsCommand.write(line) }
            }
        }
        for problem in try await client.problems(of: replay.id) {
            let words = ["outcome", "event", "type", "subject", "reason"].map { problem[$0] as? String ?? "-" }
            EventsCommand.write(output.isJSON ? ShownEvent.text(of: problem, []) : words.joined(separator: "  "))
        }
        EventsCommand.write(output.isJSON ? replay.json : replay.result)
    }
}

/// Which events, and which service.
struct ReplayChoice: ParsableArguments {
    @Option(help: "The service that handles the events again.")
    var service: String

    @Option(help: "Only events from this moment on, such as 2026-11-21T08:00:00Z.")
    var from: String?

    @Option(help: "Only events before this moment.")
    var to: String?

    @Option(name: .customLong("type"), help: "Only events of this kind; may be repeated.")
    var types: [String] = []

    @Option(help: "Only events about this, such as a user's id.")
    var subject: String?

    @Option(help: "Only events that this request or webhook started (a UUID).")
    var correlation: UUIDText?

    @Option(name: .customLong("id"), help: "Only this event (a UUID); may be repeated.")
    var ids: [UUIDText] = []

    func validate() throws {
        guard ServiceName(rawValue: self.service) != nil else {
            throw ValidationError("there is no service \(self.service)")
        }
    }

    /// Refuses a selection that does not say where to look.
    func requireBounds() throws {
        guard self.from != nil || self.subject != nil || self.correlation != nil || !self.ids.isEmpty else {
            throw ValidationError("name --from, --subject, --correlation or --id")
        }
    }

    /// Whether nothing is selected.
    var isEmpty: Bool {
        self.from == nil && self.to == nil && self.types.isEmpty && self.subject == nil && self.correlation == nil
            && self.ids.isEmpty
    }

    var selection: ReplaySelection {
        ReplaySelection(
            from: self.from,
            to: self.to,
            types: self.types.isEmpty ? nil : self.types,
            subject: self.subject,
            correlation: self.correlation?.text,
            ids: self.ids.isEmpty ? nil : self.ids.map(\.text)
        )
    }
}
