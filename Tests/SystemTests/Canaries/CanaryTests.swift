import Contracts
import Foundation
import TestSupport
import Testing

extension Faults {
    @Suite struct CanaryTests {
        @Test(
            "personal data and secrets are nowhere: logs, events, archive, tool, pages, refusals, parked events, Redis, columns"
        )
        func nowhere() async throws {
            let suite = try RunningSuite.current
            let walk = CanaryWalk(suite)
            // Whatever is said at all is looked at.
            try await suite.restart(logLevel: "debug")
            do {
                let (person, payment) = try await self.walk(walk)
                let parked = try await walk.parkEvent(person)
                let canaries = walk.canaries.all(with: walk.secrets + suite.environment.allSecrets)
                #expect(canaries.count > 80 && walk.refusals.count > 300)
                let folder = "\(Scratch.directory)/canaries-\(walk.canaries.run)"
                let paths = try await suite.writeDown(into: folder, refusals: walk.refusals)
                try await suite.writeToolOutput(into: folder, payment: payment, event: parked)
                let findings = try await CanarySearch(canaries).findings(in: paths)
                #expect(findings == [])
                let acts = try await CanarySearch(walk.canaries.operators).findings(in: paths)
                #expect(acts.filter { !$0.begins(with: WalkCanaries.operatorsPlaces) } == [])
                #expect(Set(acts.map { "\($0.canary) in \($0.file)" }).isSuperset(of: Self.operatorsTraces))
                // The walk has left its traces there: what is public is found.
                let name = Canary(name: "username", text: walk.canaries.username, isGuessable: false)
                let traces = Set(try await CanarySearch([name]).findings(in: paths).map(\.file))
                #expect(
                    traces.isSuperset(of: [
                        "event-log", "database-auth", "database-customer", "database-transaction", "database-console",
                        "tool-export", "tool-events",
                    ])
                )
                try await walk.deliverDocuments()
                try await walk.discard(parked, about: person)
                try FileManager.default.removeItem(atPath: folder)
            } catch {
                try await suite.restart(logLevel: "info")
                throw error
            }
            try await suite.restart(logLevel: "info")
            #expect(try await suite.brokenInvariants() == [])
        }

        /// Where people who operate read what they wrote.
        private static let operatorsTraces: Set = [
            "operator's note in database-transaction", "operator's note in pages-transaction",
            "operator's reason in database-transaction", "operator's reason in pages-transaction",
            "operator's reason in database-customer", "operator's reason in pages-customer",
            "operator's reason in tool-audit", "operator's reason in tool-transfers",
        ]

        /// Everything that a person can do, well and badly.
        private func walk(_ walk: CanaryWalk) async throws -> (person: Person, payment: UUID) {
            let person = try await walk.signUp()
            let friend = try await walk.suite.person("friend", funding: 50_000)
            let shop = try await walk.signUpBusiness()
            try await walk.receive(person)
            try await walk.usePIN(person, friend)
            let bank = try await walk.addBankAccounts(person)
            let payment = try await walk.moveMoney(person, friend, to: bank)
            try await walk.reportProblem(payment)
            try await walk.askForMoney(person, friend)
            try await walk.drop(person, friend)
            try await walk.usePhones(person)
            try await walk.illustrate("/users/me/image", of: .customer)
            try await walk.block(shop)
            try await walk.operate(on: shop)
            try await walk.sendWebhooks()
            try await walk.wander()
            try await eventually("the transfers to end", within: .seconds(60), every: .milliseconds(200)) {
                try await walk.suite.openTransfers(of: person) + walk.suite.openTransfers(of: friend) == 0
            }
            try await walk.decide(about: payment)
            // Last: nothing else reaches the provider then.
            try await walk.handInDocuments()
            return (person, payment)
        }

        @Test("what leaks on purpose is found in every place, however it is written")
        func leaks() async throws {
            let suite = try RunningSuite.current
            let canary = Canary(name: "leak", text: "Kanarileak" + Scratch.shortName())
            let bytes = Array(canary.text.utf8)
            let log = "\(Scratch.directory)/auth-leak-\(Scratch.shortName()).log"
            let base64 = Data(Array("ab".utf8) + bytes).base64EncodedString()
            try Data(#"{"level":"info","message":"\#(base64)"}"#.utf8).write(to: URL(fileURLWithPath: log))
            try await suite.redis(["SET", "leak:\(canary.text)", "1", "EX", "600"])
            let event = StrayEvent(nobodyHears: "leak.made", saying: #"{"name":"\#(canary.text)"}"#)
            try await suite.publish([event])
            try await suite.rows(
                "analytics",
                """
                CREATE TABLE leak (words text, bytes bytea);
                INSERT INTO leak (words) VALUES ('{"a":"{\\"b\\":\\"\(canary.text)\\"}"}');
                INSERT INTO leak (bytes) VALUES (convert_to('x\(canary.text)', 'UTF8')), (sha256('\(canary.text)'));
                """
            )
            let image = "\(suite.environment.imageFolder)/leak-\(Scratch.shortName())"
            try FileManager.default.createDirectory(
                atPath: suite.environment.imageFolder,
                withIntermediateDirectories: true
            )
            try Data(Array("\u{89}PNG\0".utf8) + bytes).write(to: URL(fileURLWithPath: image))
            let job = UUID().uuidString
            try await suite.rows(
                "account",
                """
                INSERT INTO jobs (id, kind, key, state, due_at, created_at, last_error)
                VALUES ('\(job)', 'never_run', '\(job)', 'failed', now(), now(), 'of \(canary.text)')
                """
            )
            let folder = "\(Scratch.directory)/leak-\(Scratch.shortName())"
            // The archive keeps what is no event too.
            let odd = "SELECT count(*) FROM malformed_messages WHERE routing_key = '00.leak.made'"
            try await eventually("the archive to have it", within: .seconds(20), every: .milliseconds(100)) {
                try await suite.number(odd, of: "console") == 1
            }
            let paths = try await suite.writeDown(into: folder, refusals: [#"{"detail":"\#(canary.text)?"}"#])
            let found = try await CanarySearch([canary]).findings(in: paths)
            try await suite.rows("analytics", "DROP TABLE leak")
            try await suite.rows("account", "DELETE FROM jobs WHERE id = '\(job)'")
            try FileManager.default.removeItem(atPath: image)
            try await suite.redis(["DEL", "leak:\(canary.text)"])
            try FileManager.default.removeItem(atPath: log)
            try FileManager.default.removeItem(atPath: folder)

            let name = URL(fileURLWithPath: log).lastPathComponent
            #expect(
                Set(found.map(\.file)).isSuperset(of: [
                    name, "redis", "event-log", "database-analytics", "database-console", "database-account",
                    "pages-account", "refusals", URL(fileURLWithPath: image).lastPathComponent,
                ])
            )
            let forms = Set(found.filter { $0.file == "database-analytics" }.map(\.form))
            #expect(forms == ["plain", "hex", "SHA-256"])
        }
    }
}

extension RunningSuite {
    /// Starts all services again, with another level of logging.
    fileprivate func restart(logLevel: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in SuiteEnvironment.names {
                group.addTask {
                    await (try self.process(name)).terminate(within: .seconds(15))
                    try await self.start(name, extra: ["LOG_LEVEL": logLevel])
                }
            }
            try await group.waitForAll()
        }
    }
}

extension SuiteEnvironment {
    /// What operators and services keep secret.
    fileprivate var allSecrets: [Canary] {
        let tokens = self.operatorTokens.map { name, token in
            Canary(name: "token of the operator \(name)", text: token, isGuessable: false)
        }
        return (self.composedSecrets.isEmpty ? self.secretCanaries : self.composedCanaries) + tokens
    }

    /// The secrets of containers.
    private var composedCanaries: [Canary] {
        self.composedSecrets.map { Canary(name: $0, text: Self.value(of: $1), isGuessable: false) }
    }

    /// What stands before the colon names a master key.
    private static func value(of text: String) -> String { text.split(separator: ":").last.map(String.init) ?? text }

    /// The secrets of the services' environments.
    private var secretCanaries: [Canary] {
        let names = [
            "INTERNAL_TOKEN", "METRICS_TOKEN", "DATA_KEYS_TOKEN", "EXPORTS_TOKEN", "ANCHOR_API_KEY",
            "ANCHOR_WEBHOOK_TOKEN",
            "CLERK_WEBHOOK_SECRET", "MASTER_KEYS",
            "APPROVAL_SIGNING_KEY", "PIN_PEPPER", "BLIND_INDEX_KEY", "APNS_KEY",
        ]
        return Self.names.flatMap { service -> [Canary] in
            let variables = self.variables(of: service)
            let secrets = names.compactMap { name in variables[name].map { (name, $0) } }
            let urls = [
                "DATABASE_URL", "WORKER_DATABASE_URL", "REDIS_URL", "RABBITMQ_URL", "RABBITMQ_TOPOLOGY_URL",
                "RABBITMQ_MANAGEMENT_URL",
            ]
            let passwords = urls.compactMap { name in
                variables[name].flatMap { URLComponents(string: $0)?.password }.map { ("password in \(name)", $0) }
            }
            return (secrets + passwords).map { name, text in
                Canary(name: "\(name) of \(service)", text: Self.value(of: text), isGuessable: false)
            }
        }
    }
}
