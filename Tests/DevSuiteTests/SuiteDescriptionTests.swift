import Foundation
import TestSupport
import Testing

@testable import DevSuite

@Suite("description of a suite")
struct SuiteDescriptionTests {
    @Test("every service has the settings of a service, and its database's logins but the owner's")
    func services() throws {
        let description = SuiteDescription(Ground.made())
        #expect(description.parts.map(\.name) == SuiteGround.services + ["sandbox", "apple", "gateway"])
        for name in SuiteGround.services {
            let part = try description.part(name)
            #expect(part.settings["PORT"] == "\(try #require(part.publicPort))")
            #expect(part.settings["INTERNAL_PORT"] == "\(try #require(part.internalPort))")
            let rest = "pw@h:1/transfa_\(name)?sslmode=disable"
            #expect(part.settings["DATABASE_URL"] == "postgres://\(name)_handler:\(rest)")
            #expect(part.settings["MIGRATION_DATABASE_URL"] == nil)
            #expect(part.migration?.environment["MIGRATION_DATABASE_URL"]?.contains("\(name)_owner:pw@") == true)
            #expect(part.settings["SANDBOX_URL"] == description.tool["SANDBOX_URL"])
            #expect(part.program == "/built/\(name)" && part.log == "/logs/\(name).log")
        }
    }

    @Test("a build that measures coverage writes nowhere, unless the caller says where")
    func profiles() throws {
        let description = SuiteDescription(Ground.made())
        let ours = description.parts.filter { ![SuiteGround.apple, SuiteGround.gateway].contains($0.name) }
        #expect(ours.allSatisfy { $0.settings["LLVM_PROFILE_FILE"] == "/dev/null" })
        #expect(description.tool["LLVM_PROFILE_FILE"] == "/dev/null")
        var choices = SuiteChoices()
        choices.profile = "/profiles/%p"
        let measured = SuiteDescription(Ground.made(choices))
        #expect(try measured.part("auth").settings["LLVM_PROFILE_FILE"] == "/profiles/%p")
    }

    @Test("limits of requests and the second console are there when they are asked for")
    func choices() throws {
        let plain = SuiteDescription(Ground.made())
        #expect(try plain.part("auth").settings["RATE_LIMIT_USER"] == nil)
        let known = plain.parts.map(\.name).joined(separator: ", ")
        #expect(throws: SuiteError("There is no part importer; there are \(known).")) { try plain.part("importer") }
        var choices = SuiteChoices()
        choices.rateLimit = "1000000/1"
        choices.hasImporter = true
        let description = SuiteDescription(Ground.made(choices))
        let importer = try description.part("importer")
        #expect(importer.settings["RATE_LIMIT_USER"] == "1000000/1")
        #expect(importer.settings["ARCHIVE_READS_LOG"] == "false" && importer.migration == nil)
        let console = try description.part("console")
        #expect(importer.settings["DATABASE_URL"] == console.settings["DATABASE_URL"])
        #expect(importer.program == console.program && importer.stage > console.stage)
        #expect(description.tool["IMPORTER_INTERNAL_URL"] != nil)
    }

    @Test("console shows the reference of the API where it could be had")
    func reference() throws {
        #expect(try SuiteDescription(Ground.made()).part("console").settings["REFERENCE_FOLDER"] == nil)
        let description = SuiteDescription(Ground.made(reference: "/built/reference"))
        #expect(try description.part("console").settings["REFERENCE_FOLDER"] == "/built/reference")
        #expect(try description.part("auth").settings["REFERENCE_FOLDER"] == nil)
        #expect(try description.part("console").settings["SANDBOX_URL"] == description.tool["SANDBOX_URL"])
    }

    @Test("each service has a user of its own at the broker, and only console one that sets policies")
    func brokerUsers() throws {
        let ground = Ground.made(brokerUsers: "x-")
        let description = SuiteDescription(ground)
        var passwords: Set<String> = []
        for service in SuiteGround.services {
            let settings = try description.part(service).settings
            let url = try #require(URLComponents(string: settings["RABBITMQ_URL"] ?? ""))
            #expect(url.user == "x-\(service)" && url.password == ground.brokerPasswords[service])
            #expect(url.host == "b" && url.port == 5 && url.percentEncodedPath == "/%2F")
            passwords.insert(url.password ?? "")
            let topology = try #require(URLComponents(string: settings["RABBITMQ_TOPOLOGY_URL"] ?? ""))
            #expect(topology.user == "x-topology" && topology.password == ground.brokerPasswords["topology"])
            #expect((settings["RABBITMQ_MANAGEMENT_URL"] != nil) == (service == "console"))
            #expect(!settings.values.contains { $0.contains("admin:pw@") })
        }
        #expect(passwords.count == SuiteGround.services.count)
        let management = try description.part("console").settings["RABBITMQ_MANAGEMENT_URL"]
        #expect(management == "http://x-policies:\(ground.brokerPasswords["policies"] ?? "")@b:6")
        let auth = try SuiteDescription(Ground.made()).part("auth").settings
        #expect(auth["RABBITMQ_URL"] == "amqp://admin:pw@b:5/%2F")
        #expect(auth["RABBITMQ_TOPOLOGY_URL"] == auth["RABBITMQ_URL"])
    }

    @Test("only people's keepers open data keys, and Prometheus' token opens metrics")
    func narrowTokens() throws {
        let ground = Ground.made()
        let description = SuiteDescription(ground)
        for service in SuiteGround.services {
            let settings = try description.part(service).settings
            let isKeeper = service != "subscription" && service != "console"
            #expect(settings["DATA_KEYS_TOKEN"] == (isKeeper ? ground.secrets[.dataKeysToken] : nil))
            #expect(settings["METRICS_TOKEN"] == ground.secrets[.metricsToken])
            #expect(settings["EXPORTS_TOKEN"] == ground.secrets[.exportsToken])
        }
        let names: [SuiteSecrets.Name] = [.internalToken, .metricsToken, .dataKeysToken, .exportsToken]
        #expect(Set(names.map { ground.secrets[$0] }).count == 4)
        for name in ["DATA_KEYS_TOKEN", "METRICS_TOKEN", "EXPORTS_TOKEN"] { #expect(description.tool[name] == nil) }
    }

    @Test("only the sandbox and who plays Apple have no port for peers")
    func ports() {
        let description = SuiteDescription(Ground.made())
        #expect(description.parts.filter { $0.internalPort == nil }.map(\.name) == ["sandbox", "apple"])
        let ports = description.parts.flatMap(\.ports.values)
        #expect(Set(ports).count == ports.count)
        #expect(description.tool["SANDBOX_INTERNAL_URL"] == nil)
    }

    @Test("who plays Apple stands before the sandbox's pushes, is trusted by notification, and knows no secret of ours")
    func apple() throws {
        let description = SuiteDescription(Ground.made())
        let (apple, sandbox) = (try description.part("apple"), try description.part("sandbox"))
        let notification = try description.part("notification")
        #expect(apple.settings.keys.sorted() == ["APPLE_BIND", "APPLE_CERTIFICATE", "APPLE_SANDBOX"])
        #expect(apple.settings["APPLE_SANDBOX"] == "127.0.0.1:\(sandbox.settings["APNS_PORT"] ?? "")")
        let port = try #require(apple.publicPort)
        #expect(apple.settings["APPLE_BIND"] == "127.0.0.1:\(port)" && apple.readiness == .listens(port: port))
        #expect(notification.settings["APNS_BASE_URL"] == "https://localhost:\(port)")
        #expect(notification.settings["APNS_CA_FILE"] == "/files/apple/apple.pem")
        #expect(apple.arguments == ["-db", "-f", "/deploy/apple/haproxy.cfg"])
    }

    @Test(
        "the gateway is the address of all services for transfactl, knows no secret, and services call each other directly"
    )
    func gateway() throws {
        let description = SuiteDescription(Ground.made())
        let (gateway, auth) = (try description.part("gateway"), try description.part("auth"))
        let address = "127.0.0.1:\(try #require(gateway.publicPort))"
        #expect(gateway.settings["GATEWAY_PLAIN_BIND"] == address)
        #expect(gateway.settings["AUTH_ADDRESS"] == "127.0.0.1:\(try #require(auth.publicPort))")
        #expect(gateway.settings["AUTH_HEALTH_PORT"] == "\(try #require(auth.internalPort))")
        let internalPort = try #require(gateway.internalPort)
        #expect(gateway.readiness == .answers(port: internalPort, path: "/health/ready"))
        #expect(gateway.settings.keys.allSatisfy { !$0.contains("TOKEN") && !$0.contains("DATABASE") })
        #expect(gateway.arguments == ["-db", "-f", "/deploy/gateway/haproxy.cfg"])
        #expect(description.tool["GATEWAY_URL"] == "http://\(address)" && description.tool["AUTH_URL"] == nil)
        #expect(description.tool["AUTH_INTERNAL_URL"] != nil && description.tool["SANDBOX_URL"] != nil)
        #expect(auth.settings["CUSTOMER_URL"] != nil && auth.settings["GATEWAY_URL"] == nil)
        var choices = SuiteChoices()
        choices.hasGateway = false
        let without = SuiteDescription(Ground.made(choices))
        #expect(without.tool["GATEWAY_URL"] == nil && without.tool["AUTH_URL"] != nil)
        #expect(!without.parts.map(\.name).contains("gateway"))
    }

    @Test("a replica has ports of its own and everything else of its part")
    func replica() throws {
        let part = try SuiteDescription(Ground.made()).part("auth")
        let replica = part.replica(port: 7, internalPort: 8)
        #expect(replica.settings["PORT"] == "7" && replica.settings["INTERNAL_PORT"] == "8")
        #expect(replica.settings["DATABASE_URL"] == part.settings["DATABASE_URL"])
        #expect(replica.readiness == .answers(port: 8, path: "/health/ready"))
        #expect(replica.log == "/logs/auth-replica-7.log" && replica.migration == nil)
    }

    @Test("a description is read back from its JSON")
    func json() throws {
        let description = SuiteDescription(Ground.made())
        let again = try JSONDecoder().decode(SuiteDescription.self, from: Data(description.json.utf8))
        #expect(again == description)
    }

    @Test("a start begins the sandbox first, and leaves alone what runs")
    func startPlan() throws {
        let description = SuiteDescription(Ground.made())
        let all = try StartPlan(description, named: [], running: ["auth"])
        #expect(
            all.stages.map { $0.map(\.name) } == [
                ["sandbox", "apple"], SuiteGround.services.filter { $0 != "auth" }, ["gateway"],
            ]
        )
        #expect(all.running == ["auth"])
        let one = try StartPlan(description, named: ["console"], running: [])
        #expect(one.stages.map { $0.map(\.name) } == [["console"]])
        #expect(throws: SuiteError.self) { try StartPlan(description, named: ["consol"], running: []) }
    }

    @Test("a file of settings is read back as it was written, by a shell too")
    func settingsFile() async throws {
        let variables = ["A": "x y", "B": "it's", "C": "", "D": "a=b#c"]
        let text = SettingsFile.text(variables)
        #expect(SettingsFile.variables("# a comment\n" + text) == variables)
        let said = try await Command.run("bash", ["-c", "\(text)printf '%s|' \"$A\" \"$B\" \"$C\" \"$D\""])
        #expect(said == "x y|it's||a=b#c|")
    }

    @Test("the addresses of a database keep several hosts and the options")
    func databaseURLs() {
        let url = "postgres://postgres:secret@127.0.0.1:1,127.0.0.1:2/postgres?target_session_attrs=primary"
        let database = SuiteDatabase(service: "auth", suffix: "_x", serverURL: url) { _ in "pw" }
        let rest = "127.0.0.1:1,127.0.0.1:2/transfa_auth_x?target_session_attrs=primary"
        #expect(database.url(.worker) == "postgres://auth_worker_x:pw@\(rest)")
        #expect(database.superuserURL == "postgres://postgres:secret@\(rest)")
    }

    @Test("secrets are as long as their readers ask")
    func secrets() {
        let secrets = SuiteSecrets.made()
        #expect(secrets.webhookToken.count == 10)
        // Hexadecimal digits alone would be found by trying.
        let tokens = (0..<20).map { _ in SuiteSecrets.made().webhookToken }.joined()
        #expect(tokens.contains { !$0.isHexDigit })
        #expect(secrets[.internalToken].count == 32)
        #expect(Data(base64Encoded: secrets[.masterKey])?.count == 32)
        #expect(secrets.operatorTokens.keys.sorted() == ["ada", "bola"])
    }
}
