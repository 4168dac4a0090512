import Testing

@Suite("tidiness of the repository")
struct TidyTests {
    static let rules: [Rule] = [
        .shortFiles, .shortFunctions, .shortManifest, .meaningfulNames, .noNotes, .noBannedWords, .noOpenEnds,
        .noMachinePaths, .layeredImports, .oneWrapperPerLibrary, .servicesApart, .suitesStayOutside,
        .foldersKeepTheirPlace, .storageOwnsClients, .linksResolve, .shortReadmes, .everyModuleIsExplained,
        .migrationsAreNumbered, .functionsStandWhole, .shortSQLFunctions, .contractsRunOnOldPhones, .idsAreLowerCase,
        .environmentIsDocumented, .exampleParses, .scriptsRun, .testsAndSupportApart,
    ]

    @Test("the repository follows the rule", arguments: rules)
    func repositoryFollows(_ rule: Rule) {
        let violations = rule.violations(.repository)
        #expect(violations.isEmpty, "\(violations.map(\.description).joined(separator: "\n"))")
    }

    @Test("the repository is read whole")
    func repositoryIsRead() {
        let paths = Set(SourceTree.repository.files.map(\.path))
        #expect(paths.isSuperset(of: ["Package.swift", "scripts/test", ".ci/run", "Tests/TidyTests/TidyTests.swift"]))
        #expect(SourceTree.repository.productFiles.count > 50)
    }
}
