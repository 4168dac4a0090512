extension Rule {
    /// A word that code may not use, and who may use it all the same.
    private struct Word {
        let pattern: String
        let instead: String
        let allowed: @Sendable (SourceFile) -> Bool
    }

    /// The command line talks to people, and the sandbox's journal is what it prints.
    @Sendable
    private static func mayPrint(_ file: SourceFile) -> Bool {
        file.isBelow("Services/Transfactl", "Services/Sandbox") || file.name == "Main.swift"
    }

    @Sendable
    private static func isExecutable(_ file: SourceFile) -> Bool {
        file.isBelow("Services/Transfactl") || file.name == "Main.swift"
    }

    private static let banned: [Word] = [
        Word(pattern: #"(?<![\w.])print\("#, instead: "log it", allowed: mayPrint),
        Word(pattern: #"\bfatalError\("#, instead: "preconditionFailure with a sentence", allowed: { _ in false }),
        Word(pattern: #"\btry!"#, instead: "handle the error", allowed: { _ in false }),
        Word(pattern: #"\bTask\.detached\b"#, instead: "a child of run()", allowed: { _ in false }),
        Word(pattern: #"\bTask(?:<[^>]*>)?\s*(?:\([^)]*\)\s*)?\{"#, instead: "a child of run()", allowed: isExecutable),
        Word(pattern: #"\bDispatchQueue\b"#, instead: "an actor or EventLoops", allowed: { _ in false }),
    ]

    static let noBannedWords = Rule(name: "services and shared modules use no banned word") { tree in
        tree.productFiles.flatMap { file in
            let code = file.code
            return banned.filter { !$0.allowed(file) }.flatMap { word in
                SwiftText.matches(word.pattern, in: code).map { match in
                    file.violation(match.line, "\(match.groups[0]) is banned, use \(word.instead)")
                }
            }
        }
    }

    static let noOpenEnds = Rule(name: "nothing is marked as still to do") { tree in
        // Put together, so that this file does not find itself.
        let marks = ["TO" + "DO", "FIX" + "ME", "XX" + "X"].joined(separator: "|")
        return tree.files.flatMap { file in
            SwiftText.matches("\\b(?:\(marks))\\b", in: file.text).map { match in
                file.violation(match.line, "\(match.groups[0]) is left in the text")
            }
        }
    }

    static let noMachinePaths = Rule(name: "no path of one particular machine appears") { tree in
        tree.files.flatMap { file in
            SwiftText.matches(#"(?<![\w.$}/~-])/(?:root|home/\w+|work/main|work/shared|Users/\w+)\b"#, in: file.text)
                .map { file.violation($0.line, "\($0.groups[0]) exists on one machine only") }
        }
    }
}
