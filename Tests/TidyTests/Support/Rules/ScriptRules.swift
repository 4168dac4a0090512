extension Rule {
    static let scriptsRun = Rule(name: "scripts are executable and stop at the first error") { tree in
        tree.files.filter(isScript).flatMap { file -> [Violation] in
            var found: [Violation] = []
            if !file.isExecutable {
                found.append(file.violation(1, "not executable"))
            }
            if !file.text.hasPrefix("#!") {
                found.append(file.violation(1, "no #! line"))
            }
            if file.text.hasPrefix("#!/usr/bin/env bash"), !file.text.contains("\nset -euo pipefail\n") {
                found.append(file.violation(1, "no set -euo pipefail"))
            }
            return found
        }
    }

    /// What people and continuous integration call by name.
    @Sendable
    private static func isScript(_ file: SourceFile) -> Bool {
        ["scripts", ".ci"].contains(file.folders.joined(separator: "/")) && file.name != "README.md"
    }
}
