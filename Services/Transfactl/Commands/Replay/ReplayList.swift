import ArgumentParser

/// `transfactl replay list`: replays, the newest first.
struct ReplayList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists replays, the newest first.")

    @OptionGroup var output: EventOutput

    @Option(help: "The most replays.")
    var limit = 20

    func validate() throws {
        guard (1...10_000).contains(self.limit) else { throw ValidationError("--limit is from 1 to 10000") }
    }

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            for replay in try await client.list(limit: self.limit) {
                EventsCommand.write(self.output.isJSON ? replay.json : replay.text)
            }
            return .success
        }
    }
}

/// `transfactl replay show`: one replay with what came of it.
struct ReplayShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a replay: how far it is, what a dry run found, and events that took no effect."
    )

    @OptionGroup var output: EventOutput

    @Argument(help: "The id of the replay.")
    var id: UUIDText

    @Flag(name: .customLong("follow"), help: "Wait until it has ended; exit codes are those of run.")
    var isFollowing = false

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            guard let replay = try await client.find(self.id.text) else {
                EventsCommand.complain("There is no replay \(self.id.text).")
                return ReplayCommand.nothing
            }
            if self.isFollowing { return try await ReplayCommand.follow(replay, client, self.output) }
            if !self.output.isJSON { EventsCommand.write(replay.text) }
            try await ReplayCommand.show(replay, client, self.output)
            return .success
        }
    }
}
