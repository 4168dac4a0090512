import Testing

/// Each rule on a small bad sample, so that none can stop working unseen, and on what looks bad and is not.
@Suite("tidiness rules on samples")
struct SampleTests {
    private func lines(_ rule: Rule, _ files: [String: String]) -> [Int] {
        rule.violations(.sample(files)).map(\.line)
    }

    @Test("long files are found, with more room for state machines and tests")
    func longFiles() {
        let text = String(repeating: "\n", count: 401)
        #expect(self.lines(.shortFiles, ["Shared/X/A.swift": text]) == [400])
        #expect(self.lines(.shortFiles, ["Shared/X/AStateMachine.swift": text, "Tests/A.swift": text]).isEmpty)
        #expect(self.lines(.shortFiles, ["Shared/X/AStateMachine.swift": text + text]) == [600])
        #expect(self.lines(.shortManifest, ["Package.swift": text]) == [300])
    }

    @Test("long functions are found, whatever stands in their strings and comments")
    func longFunctions() {
        let body = String(repeating: "    call()\n", count: 68)
        let allowed = "func a(\n    b: Int = f(1)\n) -> Int {\n" + String(repeating: "    call()\n", count: 65) + "}\n"
        #expect(self.lines(.shortFunctions, ["A.swift": allowed]).isEmpty)
        #expect(self.lines(.shortFunctions, ["A.swift": "\nfunc a() {\n\(body)}\n"]) == [2])
        #expect(
            self.lines(.shortFunctions, ["A.swift": "init(a: Int) {\n    // }\n    print(\"}\")\n\(body)}\n"]) == [1]
        )
        #expect(
            self.lines(.shortFunctions, ["A.swift": "protocol P {\n    func a()\n    func b()\n}\n\(body)"]).isEmpty
        )
    }

    @Test("strings and comments are blanked and interpolations are not")
    func blanking() {
        let text = ##"a("b\(c("d")) { e") // { f"## + "\n" + ##"/* { /* */ { */ g(#"\(h) ""#) i"##
        let code = SwiftText.withoutCommentsAndStrings(text)
        #expect(code.split(separator: " ") == ["a(\"", "(c(\"", "\"))", "\")", "\n", "g(#\"", "\"#)", "i"])
        #expect(code.utf8.count == text.utf8.count)
        #expect(SwiftText.withoutCommentsAndStrings("\"\"\"\n{ \" {\n\"\"\" }") == "\"\"\"\n     \n\"\"\" }")
        let quotes = SwiftText.withoutCommentsAndStrings(##"a(#"""#, #""""#, #""a""#, "") { }"##)
        #expect(quotes.filter { $0 != " " } == ##"a(#""#,#""#,#""#,""){}"##)
    }

    @Test("names that say nothing are found")
    func emptyNames() {
        #expect(self.lines(.meaningfulNames, ["Shared/Utils/A.swift": ""]) == [1])
        #expect(self.lines(.meaningfulNames, ["Shared/X/StringHelpers.swift": ""]) == [1])
        #expect(self.lines(.meaningfulNames, ["Shared/X/A.swift": "\nfinal class ConnectionManager {}"]) == [2])
        #expect(self.lines(.meaningfulNames, ["Shared/X/A+common.swift": "import NIOCore\nstruct Score {}"]).isEmpty)
        #expect(self.lines(.noNotes, ["STATUS.md": ""]) == [1])
        #expect(self.lines(.noNotes, ["Services/X/SubscriptionPlan.swift": ""]).isEmpty)
    }

    @Test(
        "banned words are found in code",
        arguments: [
            "print(1)", "fatalError(\"x\")", "try! a()", "Task.detached { }", "Task { a() }",
            "Task(priority: .low) { a() }",
            "DispatchQueue.main",
        ]
    )
    func bannedWords(_ code: String) {
        #expect(self.lines(.noBannedWords, ["Services/X/A.swift": "\n\(code)"]) == [2])
        #expect(self.lines(.noBannedWords, ["Services/X/A.swift": "// \(code)", "Tests/A.swift": code]).isEmpty)
    }

    @Test("what resembles a banned word is allowed")
    func notBanned() {
        let code = "pretty.print(1)\nlet s: any TaskGroup\nfingerprint(1)\ntry? a()\ntry await Task.sleep(for: x)"
        #expect(self.lines(.noBannedWords, ["Services/X/A.swift": code]).isEmpty)
        #expect(self.lines(.noBannedWords, ["Services/Transfactl/A.swift": "print(1)"]).isEmpty)
    }

    @Test("open ends and machine paths are found")
    func openEnds() {
        #expect(self.lines(.noOpenEnds, ["Services/X/A.swift": "\n// TO" + "DO: later"]) == [2])
        #expect(self.lines(.noMachinePaths, ["a.sh": "cd /ro" + "ot/transfa"]) == [1])
        #expect(self.lines(.noMachinePaths, ["a.sh": "cd \"$dir/work/main\" ../home/x .test/root"]).isEmpty)
    }

    @Test("imports that point up or sideways are found")
    func imports() {
        #expect(
            self.lines(.layeredImports, ["Shared/Postgres/A.swift": "import EventLoops\npublic import Redis"]) == [2]
        )
        #expect(self.lines(.layeredImports, ["Shared/Unknown/A.swift": ""]) == [1])
        #expect(self.lines(.oneWrapperPerLibrary, ["Shared/AMQP/A.swift": "import CRabbitMQ\nimport CLinux"]) == [2])
        #expect(self.lines(.servicesApart, ["Services/Auth/A.swift": "@testable import CustomerService"]) == [1])
        #expect(self.lines(.servicesApart, ["Services/Auth/Main.swift": "import AuthService"]).isEmpty)
        #expect(self.lines(.suitesStayOutside, ["Services/Auth/A.swift": "import DevSuite"]) == [1])
        #expect(self.lines(.suitesStayOutside, ["Services/Transfactl/A.swift": "import DevSuite"]).isEmpty)
    }

    @Test("folders of a service that reach too far are found")
    func folderImports() {
        let pairs = [("Domain", "Hummingbird"), ("Domain", "Postgres"), ("Application", "Postgres"), ("HTTP", "Redis")]
        for (folder, module) in pairs {
            let files = ["Services/X/\(folder)/A.swift": "import Foundation\nimport \(module)"]
            #expect(self.lines(.foldersKeepTheirPlace, files) == [2], "\(folder) importing \(module)")
        }
        #expect(self.lines(.storageOwnsClients, ["Services/X/Pages/A.swift": "import Postgres"]) == [1])
        #expect(self.lines(.storageOwnsClients, ["Services/X/Storage/A.swift": "import Postgres"]).isEmpty)
        #expect(self.lines(.storageOwnsClients, ["Services/X/X+build.swift": "import Redis"]).isEmpty)
    }

    @Test("broken links, long and missing READMEs are found")
    func documents() {
        let links = "[a](B.md)\n[b](../C.md#part)\n[c](https://example.org)\n[d](missing.md)\n"
        #expect(self.lines(.linksResolve, ["D/A.md": links, "D/B.md": "", "C.md": ""]) == [4])
        #expect(self.lines(.shortReadmes, ["README.md": String(repeating: "\n", count: 120)]) == [120])
        #expect(self.lines(.everyModuleIsExplained, ["Shared/X/A.swift": ""]) == [1])
        #expect(self.lines(.everyModuleIsExplained, ["Shared/X/A.swift": "", "Shared/X/README.md": "# X\n"]) == [1])
    }

    @Test("migrations without a number or with a used one are found")
    func migrations() {
        let files = ["S/Migrations/0001_a.sql": "", "S/Migrations/0001_b.sql": "", "S/Migrations/new.sql": ""]
        #expect(self.lines(.migrationsAreNumbered, files).count == 2)
    }

    @Test("SQL functions that stand elsewhere, in part, twice, or cannot be replaced are found")
    func wholeSQLFunctions() {
        let function = "CREATE OR REPLACE FUNCTION f(a text) RETURNS text LANGUAGE sql AS $$\n    SELECT a\n$$;\n"
        let found: [(String, [Int])] = [
            ("-- CREATE FUNCTION f\n" + function, []),
            (function + "\ncreate or replace procedure g() LANGUAGE sql AS $$ SELECT 'CREATE FUNCTION h' $$;\n", []),
            ("\nCREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT 'a' $$;\n", [2]),
            ("  CREATE  PROCEDURE f() LANGUAGE sql AS $$ SELECT 'a' $$;\n", [1]),
            (function + "\n" + function, [5]),
            (function + "CREATE OR REPLACE FUNCTION f(a uuid) RETURNS uuid LANGUAGE sql AS $$ SELECT a $$;\n", []),
            ("CREATE OR REPLACE FUNCTION g() RETURNS text LANGUAGE sql\n" + function, [1]),
        ]
        for (text, expected) in found {
            #expect(self.lines(.functionsStandWhole, ["Services/X/Functions/a.sql": text]) == expected, "\(text)")
        }
        let files = [
            "Shared/X/Functions/a.sql": function, "Shared/Y/Functions/a.sql": function, "scripts/a.sql": function,
        ]
        #expect(self.lines(.functionsStandWhole, files).isEmpty)
        let again = "\nCREATE OR REPLACE FUNCTION f(a\n    text) RETURNS text LANGUAGE sql AS $$ SELECT a $$;\n"
        #expect(self.lines(.functionsStandWhole, files.merging(["Shared/X/Functions/b.sql": again]) { $1 }) == [2])
        #expect(self.lines(.functionsStandWhole, ["Services/X/Migrations/0001_a.sql": "\n" + function]) == [2])
        #expect(
            self.lines(.functionsStandWhole, ["Services/X/Migrations/0001_a.sql": "CREATE TABLE f (a text);\n"]).isEmpty
        )
    }

    @Test("long SQL functions and wide lines are found")
    func longSQLFunctions() {
        func function(_ lines: Int) -> String {
            let body = String(repeating: "    PERFORM 1;\n", count: lines - 3)
            return "CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$\nBEGIN\n\(body)END $$;\n"
        }
        let file = "Services/X/Functions/a.sql"
        #expect(self.lines(.shortSQLFunctions, [file: function(70) + "\n" + function(70)]).isEmpty)
        #expect(self.lines(.shortSQLFunctions, [file: "-- Long.\n" + function(71) + function(70)]) == [2])
        let wide = String(repeating: "é", count: 120)
        #expect(self.lines(.shortSQLFunctions, [file: wide, "Shared/X/Migrations/0001_a.sql": wide]).isEmpty)
        #expect(self.lines(.shortSQLFunctions, ["Shared/X/Migrations/0001_a.sql": "\n-" + wide + "\n"]) == [2])
        #expect(self.lines(.shortSQLFunctions, ["scripts/a.sql": "-" + wide]).isEmpty)
    }

    @Test(
        "symbols newer than iOS 15 are found in Contracts",
        arguments: [
            "let a: Duration", "let c = ContinuousClock()", "a.split(separator: \", \")", "URL(filePath: p)",
            "Regex(p)",
            "url.appending(path: p)", "import Synchronization", "import Hummingbird", "any Sequence<Int>",
        ]
    )
    func newSymbols(_ code: String) {
        #expect(!self.lines(.contractsRunOnOldPhones, ["Shared/Contracts/Sources/Contracts/A.swift": code]).isEmpty)
    }

    @Test("symbols of iOS 15 are allowed in Contracts")
    func oldSymbols() {
        let code = "import Foundation\nlet a = Date.now\na.split(separator: c)\nlet d: any Codable\n// Duration"
        #expect(self.lines(.contractsRunOnOldPhones, ["Shared/Contracts/Sources/Contracts/A.swift": code]).isEmpty)
    }

    @Test("ids that would be written in upper case are found")
    func upperCaseIDs() {
        let code = "struct A: Sendable, Encodable {\n    let id: UUID\n    let user: UUID?\n}\n"
        #expect(self.lines(.idsAreLowerCase, ["Services/X/A.swift": code]) == [1, 1])
        #expect(self.lines(.idsAreLowerCase, ["Services/X/A.swift": "import Contracts\n" + code]).isEmpty)
        let read = "struct A: Decodable {\n    let id: UUID\n}\nstruct B: Encodable {\n    let count: Int\n}\n"
        #expect(self.lines(.idsAreLowerCase, ["Services/X/A.swift": read]).isEmpty)
    }

    @Test("settings that the example does not name are found")
    func settings() {
        let code = "SettingKey(\"PORT\", x)\nSettingKey(\n    \"REDIS_URL\", x)"
        #expect(self.lines(.environmentIsDocumented, [".env.example": "PORT=1\n", "Shared/X/A.swift": code]) == [2])
        #expect(self.lines(.environmentIsDocumented, ["Shared/X/A.swift": code]) == [1])
        let configuration = [
            "Services/X/XConfiguration.swift": "\ntry reader.text(\"ANCHOR_API_KEY\")", ".env.example": "",
        ]
        #expect(self.lines(.environmentIsDocumented, configuration) == [2])
        #expect(self.lines(.exampleParses, [".env.example": "# a\nA=b\nC='d e'\nE=f g\n"]) == [4])
    }

    @Test("scripts that cannot run or go on after errors are found")
    func scripts() {
        let good = "#!/usr/bin/env bash\nset -euo pipefail\n"
        let tree = SourceTree(files: [
            SourceFile(path: "scripts/a", text: good, isExecutable: true),
            SourceFile(path: "scripts/b", text: good),
            SourceFile(path: "scripts/c", text: "#!/usr/bin/env bash\n", isExecutable: true),
            SourceFile(path: "scripts/lib/d.sh", text: ""),
        ])
        #expect(Rule.scriptsRun.violations(tree).map(\.path) == ["scripts/b", "scripts/c"])
    }

    @Test("what is no test and stands among tests is found, and a test among what they need")
    func testsAndSupport() {
        let test = "import Testing\n@Test func a() {}"
        #expect(self.lines(.testsAndSupportApart, ["Tests/ATests/World.swift": "struct World {}"]) == [1])
        #expect(self.lines(.testsAndSupportApart, ["Tests/ATests/B/World.swift": "// @Test"]) == [1])
        #expect(self.lines(.testsAndSupportApart, ["Tests/ATests/Support/ATests.swift": test]) == [1])
        #expect(
            self.lines(
                .testsAndSupportApart,
                [
                    "Tests/ATests/ATests.swift": test, "Tests/ATests/Support/World.swift": "struct World {}",
                    "Tests/TestSupport/Command.swift": "", "Shared/X/A.swift": "",
                ]
            ).isEmpty
        )
    }
}
