import Foundation

extension Rule {
    static let linksResolve = Rule(name: "every link of a document leads to a file of the repository") { tree in
        let paths = Set(tree.files.map(\.path))
        return tree.files.filter { $0.name.hasSuffix(".md") }.flatMap { document in
            SwiftText.matches(#"\]\(([^)\s]+)\)"#, in: document.text).compactMap { match in
                let target = match.groups[1].split(separator: "#", omittingEmptySubsequences: false)[0]
                guard !target.isEmpty, !target.contains("://"), !target.hasPrefix("mailto:") else { return nil }
                let path = resolve(String(target), from: document.folders)
                let exists = paths.contains(path) || paths.contains { $0.hasPrefix(path + "/") } || isOutside(path)
                return exists ? nil : document.violation(match.line, "the link \(match.groups[1]) leads nowhere")
            }
        }
    }

    static let shortReadmes = Rule(name: "a README has fewer than 120 lines") { tree in
        tree.files.filter { $0.name == "README.md" && $0.lineCount >= 120 }.map {
            $0.violation(120, "\($0.lineCount) lines")
        }
    }

    static let everyModuleIsExplained = Rule(name: "every module and service has a README that says what it is") {
        tree in
        let modules = Set(tree.productFiles.map { $0.folders.prefix(2).joined(separator: "/") })
        return modules.sorted().compactMap { module in
            guard let readme = tree.file("\(module)/README.md") else {
                return Violation(path: module, line: 1, message: "README.md is missing")
            }
            return readme.lineCount < 4 ? readme.violation(1, "\(readme.lineCount) lines say too little") : nil
        }
    }

    static let migrationsAreNumbered = Rule(name: "migrations are called NNNN_name.sql and no number is used twice") {
        tree in
        let migrations = tree.files.filter { $0.folders.contains("Migrations") && $0.name.hasSuffix(".sql") }
        var seen: Set<String> = []
        return migrations.compactMap { file in
            guard let match = SwiftText.matches(#"^(\d{4})_[a-z0-9_]+\.sql$"#, in: file.name).first else {
                return file.violation(1, "\(file.name) is not NNNN_name.sql")
            }
            let number = file.folders.joined(separator: "/") + match.groups[1]
            return seen.insert(number).inserted ? nil : file.violation(1, "the number \(match.groups[1]) is used twice")
        }
    }

    /// Images and such are no text, so they are not in the tree.
    private static func isOutside(_ path: String) -> Bool {
        [".png", ".svg", ".jpg", ".gif"].contains { path.hasSuffix($0) }
    }

    private static func resolve(_ target: String, from folders: [String]) -> String {
        var parts = target.hasPrefix("/") ? [] : folders
        for part in target.split(separator: "/") where part != "." {
            if part == ".." {
                _ = parts.popLast()
            } else {
                parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
