import ArgumentParser
import Foundation

/// `transfactl events trace`: what belongs together, as a tree.
struct EventsTrace: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Shows what happened about a request, event, job, transaction or payment, under what caused it.",
        discussion: """
            Requests and webhooks with status and duration, events, who handled them, jobs with attempts, calls to the \
            provider. A request is recorded when it may change something; "no record" is said of a service whose inbox does \
            not have an event (yet).
            """
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "Any id: of an event, a request, a job, a transaction, or a reference at the provider.")
    var id: String

    private static let letters = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_.:"))

    func validate() throws {
        let isID = !self.id.isEmpty && self.id.unicodeScalars.allSatisfy { $0.isASCII && Self.letters.contains($0) }
        guard isID else { throw ValidationError("an id has letters, digits, and - _ . : only") }
    }

    func run() async throws {
        try await EventsCommand.with { archive throws(Failure) in
            guard let answer = try await archive.find("/traces/\(self.id)") else {
                EventsCommand.complain("Nothing is known under \(self.id).")
                return EventsCommand.notFound
            }
            if self.output.isJSON {
                EventsCommand.write(String(decoding: answer.body, as: UTF8.self))
            } else {
                for line in try answer.decode(TraceTree.self).lines { EventsCommand.write(line) }
            }
            return .success
        }
    }
}
