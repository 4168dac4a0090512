import ContractGate
import Foundation
import TestSupport
import Testing

extension Journeys {
    @Suite("the sandbox by command line")
    struct SandboxToolTests {
        @Test("a person is invented once, funded, and pays by username, once under one key")
        func payment() async throws {
            let suite = try RunningSuite.current
            let word = Scratch.shortName().lowercased().filter(\.isLetter)
            let (payer, payee) = ("pay\(word)7", "get\(word)")
            let people = ["--people", "\(Scratch.directory)/people-\(word).json"]
            func run(_ words: String...) async throws -> ToolRun {
                try await ToolRun(words + people, suite.environment.tool)
            }
            for name in [payer, payee] { #expect(try await run("sandbox", "person", name).exit == .code(0)) }
            let again = try await run("sandbox", "person", payer)
            #expect(again.exit == .code(0) && again.text.contains("is there already"))
            let subject = try #require(again.text.firstMatch(of: /transfactl token session (\w+)/)?.1)
            let token = try await suite.run("token", "session", String(subject))
            #expect(token.exit == .code(0) && token.text.split(separator: ".").count == 3)
            let funded = try await run("sandbox", "fund", payer, "50000")
            #expect(funded.exit == .code(0) && funded.text.contains("sent 50000 kobo"))

            for means in [[], ["--pin"]] {
                let words = ["pay", payer, payee, "1200", "--key", "\(word)-1"] + means
                let paid = try await ToolRun(words + people, suite.environment.tool)
                #expect(paid.exit == .code(0) && paid.text.contains("the payment is completed"))
                #expect(paid.text.contains("/console#/trace?id="))
            }
            let wallets = """
                SELECT username, posted FROM wallets w JOIN users u ON u.id = w.user_id
                WHERE username IN ('\(payer)', '\(payee)') ORDER BY username
                """
            #expect(try await suite.rows("transaction", wallets) == ["\(payee)|1200", "\(payer)|48800"])
        }

        @Test("who is not there, cannot pay or is mistyped is told in one sentence, and nothing is paid")
        func refusals() async throws {
            let suite = try RunningSuite.current
            let word = Scratch.shortName().lowercased().filter(\.isLetter)
            let people = ["--people", "\(Scratch.directory)/people-\(word).json"]
            func run(_ words: String...) async throws -> ToolRun {
                try await ToolRun(words + people, suite.environment.tool)
            }
            let stranger = try await run("pay", "nobody", "nobody", "5")
            #expect(stranger.exit == .code(2) && stranger.text.contains("transfactl sandbox person nobody"))
            #expect(try await run("sandbox", "person", "poor\(word)").exit == .code(0))
            let poor = try await run("pay", "poor\(word)", "poor\(word)", "5")
            #expect(poor.exit == .code(2) && poor.text.contains("(recipient_self)"))
            #expect(try await run("sandbox", "person", "A").exit == .code(64))
            #expect(try await run("sandbox", "fund", "poor\(word)", "0").exit == .code(64))
            try Data("no JSON".utf8).write(to: URL(fileURLWithPath: people[1]))
            let broken = try await run("sandbox", "fund", "poor\(word)", "5")
            #expect(broken.exit == .code(2) && broken.text.contains("no file of invented people"))
        }

        @Test("the commands of the page about a first payment make one")
        func firstPayment() async throws {
            let suite = try RunningSuite.current
            let file = Repository.path("Services/Console/Documents/pages/first-payment.html")
            let page = try String(contentsOfFile: file, encoding: .utf8)
            let blocks = page.matches(of: /(?s)<pre class="commands"[^>]*><code>(.*?)<\/code><\/pre>/).map {
                String($0.1)
            }
            #expect(blocks.first?.contains("scripts/run\nset -a; . .run/transfactl.env; set +a") == true)
            // This suite runs already, and its settings are in the environment.
            let commands = ["set -eu"] + blocks.dropFirst()
            let folder = "\(Scratch.directory)/first-\(Scratch.shortName())"
            try FileManager.default.createDirectory(atPath: "\(folder)/.run", withIntermediateDirectories: true)
            let tool = URL(fileURLWithPath: try Repository.product("transfactl")).deletingLastPathComponent().path
            let child = try ChildProcess(
                "/usr/bin/env",
                ["-C", folder, "bash", "-c", commands.joined(separator: "\n")],
                environment: suite.environment.tool.merging(["PATH": "\(tool):/usr/bin:/bin"]) { $1 }
            )
            let exit = await child.exit()
            #expect(exit == .code(0) && child.log.contains("the payment is completed"), Comment(rawValue: child.log))
            #expect(blocks.joined().contains("transfactl pay ada bola 120000"))
        }

        @Test("faults of the provider are ordered and taken back, and the clocks are told")
        func faultsAndClocks() async throws {
            let suite = try RunningSuite.current
            let fault = ["sandbox", "fault", "status=503", "--path", "/api/v1/never", "--count", "3"]
            let ordered = try await ToolRun(fault, suite.environment.tool)
            #expect(ordered.exit == .code(0) && ordered.text.contains("the next 3 calls: status=503"))
            #expect(try await suite.run("sandbox", "fault", "nonsense").exit == .code(64))
            let clocks = try await suite.run("sandbox", "clock", "--json")
            #expect(try clocks.lines().map { $0["offset_seconds"]?.number } == Array(repeating: 0, count: 8))
            #expect(try await suite.run("sandbox", "clock", "-5").exit == .code(64))
        }
    }
}
