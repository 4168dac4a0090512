extension Rule {
    static let testsAndSupportApart = Rule(name: "what a test folder needs and is no test stands in a folder Support") {
        tree in
        tree.swiftFiles.filter { $0.isBelow("Tests") && isInTestTarget($0) }.compactMap { file in
            let isTest = !SwiftText.matches(#"@Test\b"#, in: file.code).isEmpty
            let isSupport = file.folders.contains("Support")
            switch (isTest, isSupport) {
            case (false, false): return file.violation(1, "no test, and not in a folder Support")
            case (true, true): return file.violation(1, "a test in a folder Support")
            default: return nil
            }
        }
    }

    @Sendable
    private static func isInTestTarget(_ file: SourceFile) -> Bool {
        file.folders.count > 1 && file.folders[1].hasSuffix("Tests")
    }
}
