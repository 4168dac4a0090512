extension Rule {
    static let environmentIsDocumented = Rule(name: ".env.example names every setting") { tree in
        guard let example = tree.file(".env.example") else {
            return [Violation(path: ".env.example", line: 1, message: "the file is missing")]
        }
        let known = Set(SwiftText.matches(#"^#?\s?([A-Z][A-Z0-9_]+)="#, in: example.text).map { $0.groups[1] })
        return tree.productFiles.flatMap { file in
            // Strings are blanked in `code`, so the text itself is searched.
            let isConfiguration = file.name.hasSuffix("Configuration.swift")
            let pattern = isConfiguration ? #"\breader\.\w+\("([A-Z][A-Z0-9_]+)""# : settingKey
            return SwiftText.matches(pattern, in: file.text).compactMap { match in
                let name = match.groups[1]
                return known.contains(name) ? nil : file.violation(match.line, "\(name) is not in .env.example")
            }
        }
    }

    /// The name is the first argument.
    private static let settingKey = #"\bSettingKey\(\s*"([A-Z][A-Z0-9_]+)""#

    static let exampleParses = Rule(name: ".env.example can be read by a shell") { tree in
        guard let example = tree.file(".env.example") else { return [] }
        let lines = example.text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.enumerated().compactMap { index, line in
            let isFine =
                line.isEmpty || line.hasPrefix("#") || line.contains(/^[A-Z][A-Z0-9_]*=('[^']*'|[^\s'"$`;&|<>()]*)$/)
            return isFine ? nil : example.violation(index + 1, "not NAME=value: \(line)")
        }
    }
}
