import ArgumentParser

/// What every command lets one say about its output.
struct OutputOptions: ParsableArguments {
    @Flag(name: .customLong("json"), help: "Print one JSON object per line instead of text.")
    var isJSON = false

    /// A report in the form asked for.
    var report: Report { Report(form: self.isJSON ? .json : .text) }
}
