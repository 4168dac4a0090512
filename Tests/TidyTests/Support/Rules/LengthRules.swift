extension Rule {
    static let shortFiles = Rule(name: "a Swift file has at most 400 lines, a state machine 600") { tree in
        tree.swiftFiles.filter { !$0.isBelow("Tests") }.compactMap { file in
            let limit = file.name.hasSuffix("StateMachine.swift") ? 600 : 400
            guard file.lineCount > limit else { return nil }
            return file.violation(limit, "\(file.lineCount) lines, allowed are \(limit)")
        }
    }

    static let shortFunctions = Rule(name: "a function is shorter than 70 lines") { tree in
        tree.swiftFiles.flatMap { file in
            FunctionScanner.functions(in: file.code).filter { $0.lines >= 70 }.map { function in
                file.violation(function.line, "\(function.name) has \(function.lines) lines, allowed are 69")
            }
        }
    }

    static let shortManifest = Rule(name: "the manifest has fewer than 300 lines") { tree in
        guard let manifest = tree.file("Package.swift"), manifest.lineCount >= 300 else { return [] }
        return [manifest.violation(300, "\(manifest.lineCount) lines")]
    }
}
