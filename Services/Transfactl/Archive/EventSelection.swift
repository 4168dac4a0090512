import ArgumentParser
import Foundation

/// Which events a command is about.
struct EventSelection: ParsableArguments {
    @Option(help: "Only events from this moment on, such as 2026-11-21T08:00:00Z.")
    var from: String?

    @Option(help: "Only events before this moment.")
    var to: String?

    @Option(help: "Only events of this kind, such as transaction.completed.")
    var type: String?

    @Option(help: "Only events that this service published.")
    var source: String?

    @Option(help: "Only events about this, such as a transaction's id.")
    var subject: String?

    @Option(help: "Only events that this request or webhook started (a UUID).")
    var correlation: UUIDText?

    @Option(help: "Only events that this caused directly (a UUID).")
    var causation: UUIDText?

    /// As parameters of a query.
    var parameters: [(String, String)] {
        [
            ("from", self.from), ("to", self.to), ("type", self.type), ("source", self.source),
            ("subject", self.subject), ("correlation", self.correlation?.text), ("causation", self.causation?.text),
        ].compactMap { name, value in value.map { (name, $0) } }
    }
}
