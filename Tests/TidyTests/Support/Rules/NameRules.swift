import Foundation

extension Rule {
    static let meaningfulNames = Rule(name: "no folder, file or type is called Utils, Helpers, Common, Core or Manager")
    {
        tree in
        tree.files.flatMap(violationsOfNames)
    }

    static let noNotes = Rule(name: "no plan, status or hand-off notes are kept") { tree in
        tree.files.compactMap { file in
            let name = file.name.lowercased().split(separator: ".").first.map(String.init) ?? ""
            let notes = ["plan", "status", "handoff", "hand-off", "notes", "progress", "todo", "summary"]
            return !file.isSwift && notes.contains(name) ? file.violation(1, "\(file.name) is a note") : nil
        }
    }

    private static let empty: Set<String> = [
        "Util", "Utils", "Utility", "Utilities", "Helper", "Helpers", "Common", "Core", "Manager",
    ]

    @Sendable
    private static func violationsOfNames(_ file: SourceFile) -> [Violation] {
        var found: [Violation] = []
        let base = file.isSwift ? String(file.name.dropLast(6).prefix { $0 != "+" }) : ""
        for part in file.folders + [base] {
            if let word = words(of: part).first(where: empty.contains) ?? lowerCase(part) {
                found.append(file.violation(1, "the name \(part) says nothing: \(word)"))
            }
        }
        guard file.isSwift else { return found }
        let declaration = #"\b(?:class|struct|enum|actor|protocol|typealias)\s+([A-Z]\w*)"#
        for match in SwiftText.matches(declaration, in: file.code) {
            if let word = words(of: match.groups[1]).first(where: empty.contains) {
                found.append(file.violation(match.line, "the type name \(match.groups[1]) says nothing: \(word)"))
            }
        }
        return found
    }

    private static func lowerCase(_ folder: String) -> String? {
        ["utils", "helpers", "common", "core", "manager"].contains(folder) ? folder : nil
    }

    /// The words of a name in camel case.
    private static func words(of name: String) -> [String] {
        SwiftText.matches("[A-Z]+(?![a-z])|[A-Z][a-z0-9]*", in: name).map { $0.groups[0] }
    }
}
