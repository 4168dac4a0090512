extension Rule {
    /// Names that iOS got after 15, and names that an app does not have at all.
    private static let tooNew = [
        // iOS 16
        #"\bDuration\b"#, #"\bContinuousClock\b"#, #"\bSuspendingClock\b"#, #":\s*Clock\b"#, #"\bInstantProtocol\b"#,
        #"\bRegex\b"#, #"\bRegexBuilder\b"#, #"\.(?:wholeMatch|firstMatch|prefixMatch)\(of:"#, #"\bTask\.sleep\(for:"#,
        #"\.split\(separator:\s*""#, #"\.replacing\("#, #"\.ranges\(of:"#, #"\.trimmingPrefix\("#,
        #"\bURL\(filePath:"#, #"\bURL\(string:[^)]*encodingInvalidCharacters"#, #"\.appending\(path:"#,
        #"\.appending\(components?:"#, #"\.path\(percentEncoded:"#, #"\.host\(percentEncoded:"#,
        #"\.query\(percentEncoded:"#,
        #"\bLocalizedStringResource\b"#, #"\bany\s+\w+<"#, #"\bUUID\.random\b"#,
        // iOS 17
        #"@Observable\b"#, #"\bimport\s+Observation\b"#, #"#Predicate\b"#, #"\bPredicate<"#, #"\brepeat\s+each\b"#,
        #"\.url\(relativeTo:"#,
        // iOS 18
        #"\bMutex\b"#, #"\bAtomic<"#, #"\bimport\s+Synchronization\b"#, #"\bUInt128\b"#, #"\bInt128\b"#,
        // iOS 26
        #"\bInlineArray\b"#, #"\bSpan<"#, #"\bRawSpan\b"#,
        // Not on iOS at all
        #"\bimport\s+Glibc\b"#, #"\bimport\s+FoundationEssentials\b"#, #"\bProcess\("#,
    ]

    /// A type that can be encoded, from its indentation to the brace at the same one.
    private static let encodable =
        #"^([ \t]*)[^/\n]*\bstruct\s+\w+\s*:[^{]*\b(?:Encodable|Codable)\b[^{]*\{([\s\S]*?)^\1\}"#

    static let idsAreLowerCase = Rule(name: "what a service encodes with ids imports the encoder of Contracts") {
        tree in
        tree.swiftFiles.filter { $0.isBelow("Services") }.flatMap { file in
            let code = file.code
            guard SwiftText.matches(#"\bimport\s+Contracts\b"#, in: code).isEmpty else { return [Violation]() }
            return SwiftText.matches(encodable, in: code).flatMap { type in
                SwiftText.matches(#"\b(?:let|var)\s+\w+:\s*UUID\b"#, in: type.groups[2]).map { _ in
                    file.violation(type.line, "without `import Contracts` its ids are written in upper case")
                }
            }
        }
    }

    static let contractsRunOnOldPhones = Rule(name: "Contracts uses nothing newer than iOS 15 and only Foundation") {
        tree in
        tree.swiftFiles.filter { $0.isBelow("Shared/Contracts/Sources") }.flatMap { file in
            let code = file.code
            let symbols = tooNew.flatMap { pattern in
                SwiftText.matches(pattern, in: code).map {
                    file.violation($0.line, "\($0.groups[0]) does not exist on iOS 15")
                }
            }
            let modules = SwiftText.matches(#"^\s*(?:public\s+)?import\s+(\w+)"#, in: code)
                .filter { $0.groups[1] != "Foundation" }
                .map { file.violation($0.line, "Contracts may import Foundation only") }
            return symbols + modules
        }
    }
}
