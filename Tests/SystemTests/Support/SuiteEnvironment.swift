import Contracts
import Crypto
import Foundation
import Primitives
import TestSupport

/// The addresses, secrets and databases of one running suite.
struct SuiteEnvironment: Sendable {
    static let sandbox = "sandbox"
    static let names = ServiceName.allCases.map(\.rawValue)
    static let authorizedParty = "https://app.sandbox.transfa.test"
    static let poolAccount = "17000000000000-anc_acc"
    static let issuer = "https://clerk.sandbox.transfa.test"

    let databases: [String: TestDatabase]
    let internalToken: String
    let webhookToken: String
    let clerkSecret: String
    let apiKey: String
    private let pushKey = Self.key()
    /// The tokens with which operators sign in to the page.
    let operatorTokens: [String: String]
    /// Where the images of all services are.
    let imageFolder: String
    /// What containers that run already keep secret, by setting.
    let composedSecrets: [String: String]
    private let keys: [String: String]
    private let ports: [String: Int]
    private let internalPorts: [String: Int]
    private let pushPort: Int
    private let rabbitmq: String
    private let management: String
    private let redis: String

    init(databases: [String: TestDatabase], vhost: TestVhost, redis: String) throws {
        self.databases = databases
        self.rabbitmq = vhost.url
        self.management = vhost.managementURL
        self.redis = redis
        self.pushPort = try freePort()
        var ports: [String: Int] = [:]
        var internalPorts: [String: Int] = [:]
        for name in Self.names + [Self.sandbox] {
            ports[name] = try freePort()
            internalPorts[name] = try freePort()
        }
        self.ports = ports
        self.internalPorts = internalPorts
        let names = ["MASTER_KEYS", "APPROVAL_SIGNING_KEY", "PIN_PEPPER", "BLIND_INDEX_KEY"]
        self.keys = Dictionary(uniqueKeysWithValues: names.map { ($0, Self.key()) })
        self.composedSecrets = [:]
        self.internalToken = Self.secret(24)
        self.webhookToken = Self.secret(10)
        self.clerkSecret = "whsec_" + Self.key()
        self.apiKey = Self.secret(24)
        self.operatorTokens = ["ada": Self.secret(32), "bola": Self.secret(32)]
        self.imageFolder = "\(Scratch.directory)/images-\(Scratch.shortName())"
    }

    /// Of containers that run already; their keys are known to be looked for, and to nothing else.
    init(_ composed: ComposedSuite) throws {
        let ground = try composed.ground()
        self.databases = try composed.databases()
        self.rabbitmq = ground.vhost.url
        self.management = ground.vhost.managementURL
        self.redis = ground.redis
        self.pushPort = 0
        self.ports = try composed.ports()
        self.internalPorts = try composed.internalPorts()
        self.keys = [:]
        self.composedSecrets = composed.secrets
        self.internalToken = try composed.value("INTERNAL_TOKEN")
        self.webhookToken = try composed.value("ANCHOR_WEBHOOK_TOKEN")
        self.clerkSecret = try composed.value("CLERK_WEBHOOK_SECRET")
        self.apiKey = try composed.value("ANCHOR_API_KEY")
        self.operatorTokens = [
            "ada": try composed.value("OPERATOR_ADA_TOKEN"), "bola": try composed.value("OPERATOR_BOLA_TOKEN"),
        ]
        self.imageFolder = try composed.value("IMAGE_FOLDER")
    }

    private var pushCertificate: String { "\(Scratch.directory)/apns-\(self.pushPort).pem" }

    /// Where clients call a service or the sandbox.
    func publicURL(_ name: String) -> String { "http://127.0.0.1:\(self.ports[name] ?? 0)" }

    /// Where peers and operators call a service.
    func internalURL(_ name: String) -> String { "http://127.0.0.1:\(self.internalPorts[name] ?? 0)" }

    /// What `transfactl` reads.
    var tool: [String: String] {
        var values = ["INTERNAL_TOKEN": self.internalToken]
        for name in Self.names + [Self.sandbox] {
            values["\(name.uppercased())_URL"] = self.publicURL(name)
            values["\(name.uppercased())_INTERNAL_URL"] = self.internalURL(name)
        }
        return values
    }

    /// What one service reads.
    func variables(of name: String) -> [String: String] {
        var values = self.tool
        values["HOST"] = "127.0.0.1"
        values["PORT"] = "\(self.ports[name] ?? 0)"
        values["ANCHOR_API_KEY"] = self.apiKey
        values["ANCHOR_WEBHOOK_TOKEN"] = self.webhookToken
        values["CLERK_ISSUER"] = Self.issuer
        if [Self.sandbox, "transaction"].contains(name) { values["ANCHOR_POOL_ACCOUNT_ID"] = Self.poolAccount }
        values["LOG_LEVEL"] = "info"
        if name == Self.sandbox {
            values["ANCHOR_WEBHOOK_URL"] = "\(self.publicURL("notification"))/webhooks/anchor"
            values["CLERK_WEBHOOK_SECRET"] = self.clerkSecret
            values["CLERK_WEBHOOK_URL"] = "\(self.publicURL("auth"))/webhooks/clerk"
            values["APNS_PORT"] = "\(self.pushPort)"
            values["APNS_CERTIFICATE_FILE"] = self.pushCertificate
            return values
        }
        let own = [
            "INTERNAL_PORT": "\(self.internalPorts[name] ?? 0)", "INTERNAL_HOST": "127.0.0.1",
            "TRANSFA_PROFILE": "sandbox", "SHUTDOWN_GRACE_SECONDS": "5",
            "DATABASE_URL": self.databases[name]?.handlerURL ?? "",
            "WORKER_DATABASE_URL": self.databases[name]?.workerURL ?? "",
            "RABBITMQ_URL": self.rabbitmq, "RABBITMQ_MANAGEMENT_URL": self.management, "REDIS_URL": self.redis,
            "CLERK_JWKS_URL": "\(self.publicURL(Self.sandbox))/.well-known/jwks.json",
            "CLERK_AUTHORIZED_PARTIES": Self.authorizedParty,
            "ANCHOR_BASE_URL": self.publicURL(Self.sandbox),
        ]
        return values.merging(own) { $1 }.merging(Self.rateLimits) { $1 }.merging(self.secrets(of: name)) { $1 }
    }

    /// What the migrations of a service read.
    func migrationVariables(of name: String) -> [String: String] {
        self.variables(of: name).merging(["MIGRATION_DATABASE_URL": self.databases[name]?.ownerURL ?? ""]) { $1 }
    }

    private func secrets(of name: String) -> [String: String] {
        switch name {
        case "auth":
            var own = self.keys.filter { $0.key != "BLIND_INDEX_KEY" }
            own["CLERK_WEBHOOK_SECRET"] = self.clerkSecret
            own["MASTER_KEYS"] = "run:\(self.keys["MASTER_KEYS"] ?? "")"
            return own
        case "customer":
            var own = self.keys.filter { $0.key == "BLIND_INDEX_KEY" }
            own["IMAGE_STORE_URL"] = "file://\(self.imageFolder)"
            return own
        case "notification":
            return [
                "APNS_KEY": self.pushKey, "APNS_KEY_ID": "SYSTEMKEY1", "APNS_TEAM_ID": "SYSTEMTEAM",
                "APNS_TOPIC": "ng.transfa.app", "APNS_BASE_URL": "https://localhost:\(self.pushPort)",
                "APNS_CA_FILE": self.pushCertificate,
            ]
        case "transaction": return ["IMAGE_STORE_URL": "file://\(self.imageFolder)"]
        case "console":
            let entries = self.operatorTokens.map { name, token in
                "\(name):\(Hex.encode(Array(SHA256.hash(data: Array(token.utf8)))))"
            }
            return ["OPERATOR_TOKENS": entries.joined(separator: ",")]
        default: return [:]
        }
    }

    /// All tests together are a few people at one address.
    private static let rateLimits = Dictionary(
        uniqueKeysWithValues: ["ADDRESS", "USER", "MONEY", "SECRETS", "LOOKUPS"].map {
            ("RATE_LIMIT_\($0)", "1000000/1")
        }
    )

    private static func key() -> String { Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() }

    private static func secret(_ length: Int) -> String {
        String((0..<length).map { _ in "abcdefghijkmnpqrstuvwxyz23456789".randomElement() ?? "a" })
    }
}
