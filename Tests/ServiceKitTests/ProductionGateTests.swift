import Cryptography
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceTestSupport
import Testing

@testable import ServiceKit

private let definition = ServiceDefinition(
    name: "test",
    needs: .all,
    keys: [
        SettingKey("PIN_PEPPER", .text, class: .key, secret: true, "a key"),
        SettingKey("BLIND_INDEX_KEY", .text, class: .key, secret: true, "another key"),
        SettingKey(
            "SERVICES_INTERNAL_TOKEN",
            .list,
            class: .token(mayEqual: "INTERNAL_TOKEN"),
            optional: true,
            "a token"
        ),
        SettingKey("ANCHOR_WEBHOOK_TOKEN", .list, class: .token(characters: 10), secret: true, "a short token"),
        SettingKey("ANCHOR_API_KEY", .list, class: .given(characters: 16), secret: true, "a secret of somebody's"),
        SettingKey("OPERATOR_TOKENS", .list, class: .digests, optional: true, secret: true, "hashes"),
        SettingKey("IMAGE_STORE_URL", .url(["file", "s3"]), class: .store, "a bucket"),
        SettingKey("SANDBOX_URL", .url(["http", "https"]), class: .sandbox, optional: true, "the sandbox"),
        SettingKey("ANCHOR_BASE_URL", .url(["http", "https"]), class: .address, "a provider"),
        SettingKey("ANCHOR_POOL_ACCOUNT_ID", .text, class: .plain, "an id"),
    ]
) { ServiceParts(router: $0.router()) }

private func made(_ count: Int = 32) -> String { Data(randomBytes(count)).base64EncodedString() }

@Suite("The gate of production")
struct ProductionGateTests {
    private let trial = ProductionTrial(definition)

    /// Names of what is refused.
    private func refused(
        _ others: [String: String],
        _ profile: ServiceSettings.Profile = .production
    ) -> [String] {
        let reader = SettingsReader(self.trial.strong.merging(others) { $1 })
        return ProductionGate(definition, profile: profile).problems(reader).map(\.variable)
    }

    @Test("strong settings pass, each weak value of each class is refused by its name and never repeated")
    func classes() throws {
        #expect(try self.trial.faults() == [])
    }

    @Test("all that is wrong is named at once, in the order of the documentation, and nothing else")
    func together() {
        let wrong = [
            "INTERNAL_TOKEN": "aaaaaaaaaaaaaaaa", "REDIS_URL": "redis://cache:6379/0", "PIN_PEPPER": "",
            "CLERK_JWKS_URL": "http://clerk.transfa.app/jwks", "CLERK_AUTHORIZED_PARTIES": "",
            "RABBITMQ_URL": "amqp://me:\(made(18))@broker:5672/v", "SANDBOX_URL": "http://sandbox:8080",
            "PORT": "many",
        ]
        #expect(
            self.refused(wrong) == [
                "PORT", "INTERNAL_TOKEN", "RABBITMQ_URL", "REDIS_URL", "CLERK_JWKS_URL", "CLERK_AUTHORIZED_PARTIES",
                "PIN_PEPPER", "SANDBOX_URL",
            ]
        )
        #expect(self.refused(wrong, .sandbox) == [])
    }

    @Test("with example values a service ends with 78, and with its own secrets it passes", arguments: ["--check", ""])
    func start(argument: String) async {
        var variables = self.trial.strong
        #expect(await ServiceMain.status(definition, arguments: ["--check"], reader: SettingsReader(variables)) == 0)
        variables["INTERNAL_TOKEN"] = "change-me-to-random"
        let arguments = argument.isEmpty ? [] : [argument]
        #expect(await ServiceMain.status(definition, arguments: arguments, reader: SettingsReader(variables)) == 78)
        variables["TRANSFA_PROFILE"] = "sandbox"
        #expect(await ServiceMain.status(definition, arguments: ["--check"], reader: SettingsReader(variables)) == 0)
    }

    @Test("whoever says nothing of a profile is in production, migrations too")
    func unsaid() async {
        let variables = self.trial.strong.filter { $0.key != "TRANSFA_PROFILE" }
            .merging(["DATA_KEYS_TOKEN": "change-me-to-a-third"]) { $1 }
        #expect(await ServiceMain.status(definition, arguments: ["--check"], reader: SettingsReader(variables)) == 78)
        let plain = SettingsReader(["MIGRATION_DATABASE_URL": "postgres://owner:password@10.0.0.1:1/d"])
        #expect(await ServiceMain.status(definition, arguments: ["--migrate-only"], reader: plain) == 78)
    }

    @Test("staging takes the providers' sandboxes, and nothing else that production refuses")
    func staging() {
        let sandboxes = [
            "ANCHOR_BASE_URL": "https://api.sandbox.transfa.app", "CLERK_ISSUER": "https://a.clerk.accounts.dev",
        ]
        #expect(self.refused(sandboxes, .staging) == [])
        #expect(self.refused(sandboxes) == ["CLERK_ISSUER", "ANCHOR_BASE_URL"])
        let weak = ["SANDBOX_URL": "http://sandbox:8080", "INTERNAL_TOKEN": "change-me-to-random"]
        #expect(self.refused(weak, .staging) == ["INTERNAL_TOKEN", "SANDBOX_URL"])
    }

    @Test("one secret for two things is refused, whichever they are")
    func equal() {
        let (key, token) = (made(), made(30))
        #expect(self.refused(["PIN_PEPPER": key, "BLIND_INDEX_KEY": key]) == ["BLIND_INDEX_KEY"])
        #expect(self.refused(["INTERNAL_TOKEN": token, "ANCHOR_API_KEY": token]) == ["ANCHOR_API_KEY"])
        #expect(
            self.refused(["INTERNAL_TOKEN": "\(made(30)),\(token)", "METRICS_TOKEN": token]) == ["METRICS_TOKEN"]
        )
        // The services' ports have one, and this is how to say so.
        #expect(self.refused(["INTERNAL_TOKEN": token, "SERVICES_INTERNAL_TOKEN": token]) == [])
        #expect(self.refused(["DATA_KEYS_TOKEN": token, "SERVICES_INTERNAL_TOKEN": token]).count == 1)
        let url = { (user: String) in "postgres://\(user):\(token.filter { $0.isLetter })@db/d?sslmode=verify-full" }
        #expect(self.refused(["DATABASE_URL": url("a"), "WORKER_DATABASE_URL": url("b")]) == ["WORKER_DATABASE_URL"])
        #expect(self.refused(["DATABASE_URL": url("a"), "WORKER_DATABASE_URL": url("a")]) == [])
    }

    @Test("a setting of no class stops a service in production, so that none can be forgotten")
    func unclassed() {
        let key = SettingKey("NEW_URL", .url(["http"]), optional: true, "nobody has thought of it")
        let gate = ProductionGate([key], profile: .production)
        let said = gate.problems(SettingsReader(["NEW_URL": "http://somewhere"]))
        #expect(said == [ConfigurationProblem(variable: "NEW_URL", reason: "is of no class")])
        #expect(gate.problems(SettingsReader([:])) == [])
    }

    @Test(
        "wires to this machine may be plain, such as to a sidecar, but a password in them is no example",
        arguments: [
            ("REDIS_URL", "redis://127.0.0.1:6379/0"), ("REDIS_URL", "redis://[::1]:6379/0"),
            ("RABBITMQ_URL", "amqp://localhost:5672/v"), ("DATABASE_URL", "postgres://me@localhost:5432/d"),
            ("RABBITMQ_MANAGEMENT_URL", "http://broker.transfa.svc:15672"),
            ("AUTH_INTERNAL_URL", "http://10.1.2.3:9080"),
            ("AUTH_INTERNAL_URL", "http://auth:9080"), ("AUTH_INTERNAL_URL", "https://auth.transfa.app"),
            ("IMAGE_STORE_URL", "file:///var/lib/transfa"), ("IMAGE_STORE_URL", "s3://b?endpoint=http://minio:9000"),
        ]
    )
    func inside(name: String, value: String) {
        #expect(self.refused([name: value]) == [])
        guard value.contains("//127.0.0.1") else { return }
        #expect(self.refused([name: value.replacing("//", with: "//:password@")]) == [name])
    }

    @Test(
        "several hosts are as exposed as the one that is most",
        arguments: [
            "redis+sentinel://localhost:1,10.0.0.1:2/m", "redis://localhost:1,cache:2",
            "redis://127.0.0.1.transfa.app:1",
        ]
    )
    func hosts(url: String) {
        #expect(self.refused(["REDIS_URL": url]) == ["REDIS_URL"])
    }

    @Test("what machines make passes: a thousand tokens, keys and short tokens of each form")
    func machines() {
        for _ in 0..<1000 {
            let bytes = randomBytes(60)
            let letters = Data(bytes).base64EncodedString().filter { $0.isLetter || $0.isNumber }
            for (text, characters) in [
                (Hex.encode(Array(bytes.prefix(24))), 32), (Hex.encode(Array(bytes.prefix(16))), 32),
                (String(letters.prefix(10)), 10), (Data(bytes.prefix(24)).base64EncodedString(), 32),
            ] {
                let weakness = SecretStrength(characters).weakness(of: text)
                // Ten characters without a letter beyond f come once in a million times.
                #expect(weakness == nil || text.allSatisfy(\.isHexDigit) && text.count == 10, "\(text)")
            }
            #expect(RandomBytes.weakness(of: Data(bytes.prefix(32)).base64EncodedString()) == nil)
        }
        let pem = P256.PrivateKey().pemRepresentation
        #expect(RandomBytes.weakness(of: pem) == nil)
    }

    @Test("the documentation of a setting says what production demands of it")
    func documentation() {
        let lines = Dictionary(definition.settings.map { ($0.name, $0.documentation) }) { $1 }
        #expect(lines["INTERNAL_TOKEN"]?.contains("in production 32 random characters or more") == true)
        #expect(lines["REDIS_URL"]?.contains("in production TLS") == true)
        #expect(lines["SANDBOX_URL"]?.hasSuffix("in production not set") == true)
        #expect(lines["PORT"]?.contains("production") == false)
    }
}
