import ArgumentParser

/// `transfactl journey`: the main job from sign-up to settled payments, with checks of every figure.
struct JourneyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "journey",
        abstract: "Two people and a merchant sign up, are funded and pay; every figure is checked.",
        discussion: "Exit code 0 only when every check holds. It needs the sandbox, and makes new people on every run."
    )

    @OptionGroup var output: OutputOptions

    @OptionGroup var waiting: WaitOptions

    func run() async throws {
        let report = self.output.report
        let caller = Caller(try report.endpoints())
        let code = await self.drive(Stage(caller: caller, report: report, patience: self.waiting.patience))
        guard code == .success else { throw code }
    }

    /// A journey that does not come to its end is not as it should be, whatever stopped it.
    private func drive(_ stage: Stage) async -> ExitCode {
        do {
            try await Journey(stage: stage).run()
            return stage.report.finish()
        } catch {
            stage.report.failed(error)
            return Exit.wrong
        }
    }
}
