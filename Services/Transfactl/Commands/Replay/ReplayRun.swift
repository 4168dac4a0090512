import ArgumentParser

/// `transfactl replay run`: begins a replay and follows it.
struct ReplayRun: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Begins a replay and follows it to its end.",
        discussion: """
            Console does the work: when this command is interrupted the replay goes on, `show <id> --follow` follows it and \
            `cancel <id>` ends it. With --dry-run the handlers run in transactions that are rolled back, and what they would \
            have changed is printed. With --rebuild a projection of the service is made again from all archived events, \
            beside the one that people see, and takes its place.
            """
    )

    /// Whether what is asked for outside is done.
    enum Effects: String, ExpressibleByArgument, CaseIterable {
        case off
        case on
    }

    @OptionGroup var choice: ReplayChoice
    @OptionGroup var output: EventOutput
    @OptionGroup var acting: OperatorOptions

    @Flag(name: .customLong("dry-run"), help: "Change nothing, and print what would change.")
    var isDryRun = false

    @Option(help: "off: jobs are recorded as skipped, so that nothing outside is called.")
    var effects = Effects.off

    @Option(name: .customLong("rebuild"), help: "Make this projection again, such as money of analytics.")
    var projection: String?

    @Option(help: "The most events per second, 1 to 20000; 500 without it, 5000 with --rebuild.")
    var rate: Int?

    @Flag(name: .customLong("detach"), help: "Print the replay and end.")
    var isDetached = false

    func validate() throws {
        guard (1...20_000).contains(self.rate ?? 1) else { throw ValidationError("--rate is from 1 to 20000") }
        guard !self.isDryRun || self.effects == .off else { throw ValidationError("a dry run has no effects") }
        guard self.projection != nil else { return try self.choice.requireBounds() }
        guard self.choice.isEmpty, !self.isDryRun, self.effects == .off else {
            throw ValidationError("--rebuild takes all events, and has no effects")
        }
    }

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            let replay = try await self.begin(client)
            if self.isDetached {
                EventsCommand.write(self.output.isJSON ? replay.json : replay.text)
                return .success
            }
            if !self.output.isJSON { EventsCommand.note("replay \(replay.id)") }
            return try await ReplayCommand.follow(replay, client, self.output)
        }
    }

    private func begin(_ client: ReplayClient) async throws(Failure) -> ShownReplay {
        if let projection = self.projection {
            let order = RebuildOrder(
                service: self.choice.service,
                projection: projection,
                rate: self.rate,
                reason: self.acting.reason
            )
            return try await client.begin(order, by: self.acting.name)
        }
        let order = ReplayOrder(
            service: self.choice.service,
            mode: self.isDryRun ? "dry_run" : "run",
            effects: self.effects.rawValue,
            rate: self.rate ?? 500,
            selection: self.choice.selection,
            reason: self.acting.reason
        )
        return try await client.begin(order, by: self.acting.name)
    }
}

/// `transfactl replay resume`: lets a replay go on where it stopped, and follows it.
struct ReplayResume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets a cancelled or failed replay go on where it stopped, and follows it."
    )

    @OptionGroup var output: EventOutput
    @OptionGroup var acting: OperatorOptions

    @Argument(help: "The id of the replay.")
    var id: UUIDText

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            guard let replay = try await client.act("resume", on: self.id.text, self.acting) else {
                EventsCommand.complain("There is no replay \(self.id.text).")
                return ReplayCommand.nothing
            }
            return try await ReplayCommand.follow(replay, client, self.output)
        }
    }
}

/// `transfactl replay cancel`: ends a replay.
struct ReplayCancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Ends a replay after the events that are under way."
    )

    @OptionGroup var output: EventOutput
    @OptionGroup var acting: OperatorOptions

    @Argument(help: "The id of the replay.")
    var id: UUIDText

    func run() async throws {
        try await ReplayCommand.with { client throws(Failure) in
            guard let replay = try await client.act("cancel", on: self.id.text, self.acting) else {
                EventsCommand.complain("There is no replay \(self.id.text).")
                return ReplayCommand.nothing
            }
            EventsCommand.write(self.output.isJSON ? replay.json : replay.result)
            return .success
        }
    }
}
