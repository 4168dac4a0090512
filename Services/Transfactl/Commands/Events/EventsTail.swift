import ArgumentParser

/// `transfactl events tail`: events as they come.
struct EventsTail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail",
        abstract: "Prints events as they are archived.",
        discussion: "Without --from it begins with what comes next. It ends when interrupted, or after --count events."
    )

    @OptionGroup var selection: EventSelection
    @OptionGroup var output: EventOutput

    @Option(help: "End after so many events.")
    var count: Int?

    /// Below the client's own patience for an answer.
    private static let wait = "10"
    private static let pageSize = "500"

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is at least 1") }
    }

    func run() async throws {
        try await EventsCommand.with { archive throws(Failure) in
            var left = self.count ?? .max
            var place = [("begin", self.selection.from == nil ? "end" : "start")]
            while left > 0 {
                let rest = [("limit", Self.pageSize), ("wait", Self.wait)]
                let page = try await archive.page("/feed", self.selection.parameters + rest + place)
                for event in page.events.prefix(left) { self.output.write(event) }
                left -= page.events.count
                guard let cursor = page.nextCursor else { throw Failure("The feed has ended.") }
                place = [("cursor", cursor)]
            }
            return .success
        }
    }
}
