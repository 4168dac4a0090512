import ArgumentParser

/// How long a command waits for what is to come.
struct WaitOptions: ParsableArguments {
    @Option(name: .customLong("wait"), help: "The most seconds that one wait may take.")
    private var seconds = 60

    var patience: Duration { .seconds(self.seconds) }

    func validate() throws {
        guard (1...3600).contains(self.seconds) else { throw ValidationError("--wait is from 1 to 3600 seconds") }
    }
}

/// What every command lets one say about its output.
struct OutputOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object per line instead of text.")
    var isJSON = false

    /// A report in the form asked for.
    var report: Report { Report(form: self.isJSON ? .json : .text) }

    /// Calls services and reports what they say.
    ///
    /// - Throws: The exit code, unless every check holds.
    func reporting(_ body: (Caller, Report) async throws(Failure) -> Void) async throws {
        let report = self.report
        let caller = Caller(try report.endpoints())
        do throws(Failure) {
            try await body(caller, report)
        } catch {
            report.failed(error)
            throw Exit.refused
        }
        let code = report.finish()
        guard code == .success else { throw code }
    }
}
