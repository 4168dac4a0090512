import ArgumentParser

/// `transfactl journey`: the main job from sign-up to settled payments, with checks of every figure.
struct JourneyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journey",
        abstract: "Two people and a merchant sign up, are funded and pay; every figure is checked.",
        discussion: "Exit code 0 only when every check holds. It needs the sandbox, and makes new people on every run."
    )

    @OptionGroup var output: OutputOptions

    @Option(name: .customLong("wait"), help: "The most seconds that one wait may take.")
    var waitSeconds = 60

    func validate() throws {
        guard (1...3600).contains(self.waitSeconds) else { throw ValidationError("--wait is from 1 to 3600 seconds") }
    }

    func run() async throws {
        let report = self.output.report
        let endpoints = try report.endpoints()
        let isWhole = try await Caller.with(endpoints) { caller in
            await self.drive(Stage(caller: caller, report: report, patience: .seconds(self.waitSeconds)))
        }
        guard isWhole else { throw ExitCode.failure }
    }

    /// Whether it came to its end and every check held.
    private func drive(_ stage: Stage) async -> Bool {
        do {
            try await Journey(stage: stage).run()
            return stage.report.finish()
        } catch {
            stage.report.failed(error)
            return false
        }
    }
}
