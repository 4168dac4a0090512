import ArgumentParser

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
