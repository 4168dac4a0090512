import ArgumentParser

/// `transfactl events show`: one event with its data.
struct EventsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows an event with all it says; personal data in it is sealed."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The event's id.")
    var id: UUIDText

    func run() async throws {
        try await EventsCommand.with { archive throws(Failure) in
            guard let answer = try await archive.find("/events/\(self.id.text)"),
                let event = ArchiveClient.object(answer.body).flatMap({ ShownEvent($0) })
            else {
                EventsCommand.complain("There is no event \(self.id.text).")
                return EventsCommand.notFound
            }
            EventsCommand.write(self.output.isJSON ? event.json : event.pretty)
            return .success
        }
    }
}
