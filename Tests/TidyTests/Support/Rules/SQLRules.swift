extension Rule {
    static let functionsStandWhole = Rule(name: "an SQL function stands in Functions, whole, once, to be replaced") {
        tree in
        var seen: Set<String> = []
        return schemaFiles(tree).flatMap { file -> [Violation] in
            let functions = SQLFunction.all(in: file.text)
            guard file.folders.contains("Functions") else {
                return functions.map { file.violation($0.line, "\($0.name) belongs in a file of Functions") }
            }
            let folder = file.folders.joined(separator: "/")
            return functions.compactMap { function -> Violation? in
                guard function.isRepeatable else {
                    return file.violation(function.line, "\(function.name) is not made by CREATE OR REPLACE")
                }
                guard function.lines != nil else {
                    return file.violation(function.line, "\(function.name) does not end with $$;")
                }
                guard seen.insert("\(folder) \(function.name) \(function.parameters)").inserted else {
                    return file.violation(function.line, "\(function.name) stands in this folder twice")
                }
                return nil
            }
        }
    }

    static let shortSQLFunctions = Rule(name: "an SQL function has at most 70 lines, a line at most 120 columns") {
        tree in
        schemaFiles(tree).flatMap { file -> [Violation] in
            let functions = SQLFunction.all(in: file.text).compactMap { function -> Violation? in
                guard let lines = function.lines, lines > 70 else { return nil }
                return file.violation(function.line, "\(function.name) has \(lines) lines, allowed are 70")
            }
            let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            return functions
                + lines.enumerated().filter { $0.element.count > 120 }.map { line in
                    file.violation(line.offset + 1, "\(line.element.count) columns, allowed are 120")
                }
        }
    }

    /// The SQL that makes the databases: tables and functions.
    private static func schemaFiles(_ tree: SourceTree) -> [SourceFile] {
        tree.files.filter { file in
            file.name.hasSuffix(".sql") && file.isBelow("Services", "Shared")
                && (file.folders.contains("Functions") || file.folders.contains("Migrations"))
        }
    }
}
