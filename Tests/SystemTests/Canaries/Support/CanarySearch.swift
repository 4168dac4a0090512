import Foundation
import TestSupport

/// Looks for canaries in files.
struct CanarySearch: Sendable {
    /// A canary where it must not be.
    struct Finding: Sendable, Hashable, CustomStringConvertible {
        let file: String
        let canary: String
        let form: String
        /// The beginning of the line.
        let line: String

        /// Whether the line begins with one of these words.
        func begins(with words: Set<String>) -> Bool {
            words.contains(self.line.prefix { $0 != " " && $0 != "?" }.description)
        }

        var description: String { "\(self.canary) (\(self.form)) in \(self.file): \(self.line)" }
    }

    private let forms: [String: (canary: String, form: String)]
    private let long: [String]
    private let short: [String]

    /// More of one file say nothing new.
    private static let findingsPerFile = 20

    init(_ canaries: [Canary]) {
        var forms: [String: (String, String)] = [:]
        for canary in canaries {
            for form in canary.forms where forms[form.text.lowercased()] == nil {
                forms[form.text.lowercased()] = (canary.name, form.name)
            }
        }
        self.forms = forms
        // Whatever the form, more than a few characters do not come together by chance.
        self.long = canaries.flatMap { canary in
            canary.forms.map(\.text).filter { !canary.isShort || $0 != canary.text }
        }
        self.short = canaries.filter(\.isShort).map(\.text)
    }

    /// All findings in files and folders.
    func findings(in paths: [String]) async throws -> [Finding] {
        let list = "\(Scratch.directory)/needles-\(Scratch.shortName())"
        try Data(self.long.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: list))
        defer { try? FileManager.default.removeItem(atPath: list) }
        var findings = try await self.grep(["-F", "-f", list], paths)
        if !self.short.isEmpty {
            // Not inside of a longer number, a fraction of a second or an id.
            let pattern = "(?<![0-9a-f.])(\(self.short.joined(separator: "|")))(?![0-9a-f])"
            findings += try await self.grep(["-P", "-e", pattern], paths)
        }
        return findings
    }

    private func grep(_ words: [String], _ paths: [String]) async throws -> [Finding] {
        let options = ["-r", "-a", "-i", "-o", "-n", "-H", "-Z", "-m", String(Self.findingsPerFile)]
        // No match is 1, and no error.
        let script = #"grep "$@" || [ $? -eq 1 ]"#
        let output = try await Command.run("bash", ["-c", script, "grep"] + options + words + ["--"] + paths)
        return try output.split(separator: "\n").map { line in
            let parts = line.split(separator: "\0", maxSplits: 1)
            let numbered = parts.count == 2 ? parts[1].split(separator: ":", maxSplits: 1) : []
            guard numbered.count == 2, let number = Int(numbered[0]) else { throw TestFailure("grep wrote \(line)") }
            let file = String(parts[0])
            let form = self.forms[numbered[1].lowercased()]
            return Finding(
                file: URL(fileURLWithPath: file).lastPathComponent,
                canary: form?.canary ?? "?",
                form: form?.form ?? "?",
                line: Self.line(number, of: file)
            )
        }
    }

    private static func line(_ number: Int, of file: String) -> String {
        let text = String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return number <= lines.count ? String(lines[number - 1].prefix(400)) : ""
    }
}
