import ArgumentParser
import Contracts
import Foundation
import Primitives

/// Tells a person or a program what happens, and counts the checks.
final class Report {
    enum Form {
        case text
        case json
    }

    private let form: Form
    private var steps = 0
    private var checks = 0
    private var failedChecks = 0
    private var refusals = 0
    private var missing = 0

    init(form: Form) { self.form = form }

    /// A new part begins.
    func step(_ title: String) {
        self.steps += 1
        self.write(ReportLine(.step, text: title)) { "\n\(self.steps). \(title)" }
    }

    /// A request and what came back.
    func exchange(_ call: Call, _ answer: Answer) {
        var line = ReportLine(.exchange)
        line.request = call.line
        line.status = answer.status
        line.requestID = answer.requestID?.lowercased
        line.requestBody = call.body.isEmpty ? nil : Excerpt.of(call.body)
        line.answer = answer.body.isEmpty ? nil : Excerpt.of(answer.body)
        self.write(line) {
            let sent = line.requestBody.map { " \($0)" } ?? ""
            let received = line.answer.map { " \($0)" } ?? ""
            return "   \(call.line)\(sent)\n   -> \(answer.status)\(received)"
        }
    }

    /// An event that a request caused.
    func event(_ event: TracedEvent) {
        var line = ReportLine(.event)
        line.event = event.type.rawValue
        line.source = event.source.rawValue
        line.subject = event.subject
        line.sequence = event.sequence
        line.handled = Dictionary(uniqueKeysWithValues: event.handled.map { ($0.key.rawValue, $0.value) })
        self.write(line) { "      event \(event.text)" }
    }

    /// Something worth knowing.
    func note(_ text: String) {
        self.write(ReportLine(.note, text: text)) { "   \(text)" }
    }

    /// Something that must hold, with the figures by which one sees it.
    func check(_ name: String, _ holds: Bool, _ figures: String) {
        self.checks += 1
        if !holds { self.failedChecks += 1 }
        var line = ReportLine(.check, text: name)
        line.holds = holds
        line.figures = figures
        self.write(line) { "   \(holds ? "ok    " : "FAILED") \(name): \(figures)" }
    }

    /// Something that was ordered, and what came back; a refusal is worse than a check that does not hold.
    func act(_ name: String, _ answer: Answer) {
        let isDone = (200...299).contains(answer.status)
        if answer.isAboutNothing {
            self.missing += 1
        } else if !isDone {
            self.refusals += 1
        }
        let said = answer.body.isEmpty ? "" : " \(Excerpt.of(answer.body))"
        self.check(name, isDone, "status \(answer.status)\(said)")
    }

    /// Something that was ordered or asked and could not be.
    func unreachable(_ name: String, _ failure: Failure) {
        self.refusals += 1
        self.check(name, false, failure.description)
    }

    /// It could not go on.
    func failed(_ failure: Failure) {
        self.write(ReportLine(.failure, text: failure.description)) { "\nFAILED: \(failure.description)" }
    }

    /// Sums up, and says how the command ends.
    func finish() -> ExitCode {
        var line = ReportLine(.result)
        line.checks = self.checks
        line.failedChecks = self.failedChecks
        line.holds = self.failedChecks == 0
        self.write(line) {
            guard self.failedChecks == 0 else { return "\nFAILED: \(self.failedChecks) of \(self.checks) checks." }
            return self.checks == 0 ? "\nDone." : "\nAll \(self.checks) checks hold."
        }
        guard self.refusals == 0 else { return Exit.refused }
        guard self.missing == 0 else { return Exit.notFound }
        return self.failedChecks == 0 ? .success : Exit.wrong
    }

    private func write(_ line: ReportLine, text: () -> String) {
        switch self.form {
        case .text: FileHandle.standardOutput.write(Data((text() + "\n").utf8))
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            guard let data = try? encoder.encode(line) else { preconditionFailure("a report line is always encodable") }
            FileHandle.standardOutput.write(data + Data("\n".utf8))
        }
    }
}
