import ArgumentParser

/// `transfactl events list`: events, the newest first.
struct EventsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists events, the newest first.")

    @OptionGroup var selection: EventSelection
    @OptionGroup var output: EventOutput

    @Option(help: "The most events.")
    var limit = 50

    private static let pageSize = 500

    func validate() throws {
        guard (1...100_000).contains(self.limit) else { throw ValidationError("--limit is from 1 to 100000") }
    }

    func run() async throws {
        try await EventsCommand.with { archive throws(Failure) in
            var (left, cursor) = (self.limit, String?.none)
            repeat {
                let size = [("limit", "\(min(left, Self.pageSize))")]
                let place = cursor.map { [("cursor", $0)] } ?? []
                let page = try await archive.page("/events", self.selection.parameters + size + place)
                for event in page.events { self.output.write(event) }
                left -= page.events.count
                cursor = page.nextCursor
            } while cursor != nil && left > 0
            return .success
        }
    }
}
