import DevSuite
import Foundation
import Messaging
import TestSupport

/// The suite that the tests run against, as `DevSuite` describes it, and its databases.
struct SuiteEnvironment: Sendable {
    static let sandbox = SuiteGround.sandbox
    static let names = SuiteGround.services
    static let authorizedParty = SuiteGround.authorizedParty
    static let issuer = SuiteGround.issuer

    let databases: [String: TestDatabase]
    /// What containers that run already keep secret, by setting.
    let composedSecrets: [String: String]
    /// Where the images of all services are.
    let imageFolder: String
    private let ground: SuiteGround
    private let description: SuiteDescription

    /// Processes on these databases, with ports and secrets of their own.
    init(databases: [String: TestDatabase], vhost: TestVhost, redis: String) throws {
        let files = "\(Scratch.directory)/suite-\(Scratch.shortName())"
        self.databases = databases
        self.composedSecrets = [:]
        self.ground = SuiteGround(
            binaries: URL(fileURLWithPath: try Repository.product("transfactl")).deletingLastPathComponent().path,
            deploy: Repository.path("deploy"),
            files: files,
            // All in one folder, where those who look for leaks find them.
            logs: Scratch.directory,
            ports: try Self.ports(),
            secrets: .made(),
            servers: Self.servers(databases, vhost, redis),
            databases: databases.mapValues(\.database),
            choices: Self.choices,
            reference: Self.reference
        )
        self.description = SuiteDescription(self.ground)
        self.imageFolder = self.ground.images
        try FileManager.default.createDirectory(
            atPath: self.ground.sandboxFiles,
            withIntermediateDirectories: true
        )
    }

    /// Containers that run already; their keys are known to be looked for, and to nothing else.
    init(_ composed: ComposedSuite) throws {
        let ground = try composed.ground()
        self.databases = try composed.databases()
        self.composedSecrets = composed.secrets
        self.imageFolder = try composed.value("IMAGE_FOLDER")
        self.ground = SuiteGround(
            binaries: "",
            deploy: "",
            files: "",
            logs: Scratch.directory,
            ports: try composed.ports().merging(
                try composed.internalPorts().map { ("\($0.key)-internal", $0.value) }
            ) { $1 },
            secrets: try composed.suiteSecrets(),
            servers: Self.servers(self.databases, ground.vhost, ground.redis),
            databases: self.databases.mapValues(\.database),
            choices: Self.choices
        )
        self.description = SuiteDescription(self.ground)
    }

    var internalToken: String { self.ground.secrets[.internalToken] }
    var metricsToken: String { self.ground.secrets[.metricsToken] }
    var dataKeysToken: String { self.ground.secrets[.dataKeysToken] }
    var exportsToken: String { self.ground.secrets[.exportsToken] }
    var webhookToken: String { self.ground.secrets.webhookToken }
    var apiKey: String { self.ground.secrets[.anchorAPIKey] }
    /// The tokens with which operators sign in to the page.
    var operatorTokens: [String: String] { self.ground.secrets.operatorTokens }

    /// Where clients call a service or the sandbox.
    func publicURL(_ name: String) -> String { self.ground.publicURL(name) }

    /// Where peers and operators call a service.
    func internalURL(_ name: String) -> String { self.ground.internalURL(name) }

    /// What `transfactl` reads.
    var tool: [String: String] { self.ground.tool }

    /// What is started under a name, and how one sees that it is ready.
    func part(_ name: String) throws -> SuitePart { try self.description.part(name) }

    /// The gateway before these services: few tests start one.
    func gateway() throws -> SuitePart {
        var ground = self.ground
        ground.choices.hasGateway = true
        return try SuiteDescription(ground).part(SuiteGround.gateway)
    }

    /// The folder with what shows the description of the API, as `scripts/test` has it.
    static let reference = ProcessInfo.processInfo.environment["TRANSFA_TEST_REFERENCE"]

    var appleCertificate: AppleCertificate { self.ground.appleCertificate }

    /// What one service reads.
    func variables(of name: String) -> [String: String] { (try? self.part(name))?.settings ?? [:] }

    private static func ports() throws -> [String: Int] {
        var choices = Self.choices
        choices.hasGateway = true
        let names = SuiteGround.portNames(choices)
        return try names.reduce(into: [:]) { $0[$1] = try freePort() }
    }

    private static func servers(
        _ databases: [String: TestDatabase],
        _ vhost: TestVhost,
        _ redis: String
    ) -> SuiteServers {
        SuiteServers(
            postgres: databases.values.first?.database.serverURL ?? "",
            rabbitmq: vhost.url,
            management: vhost.managementURL,
            redis: redis,
            brokerUsers: "\(vhost.name)-"
        )
    }

    /// Makes the users that the services log in to the broker as.
    func makeBrokerUsers(on vhost: TestVhost) async throws {
        let passwords = self.ground.brokerPasswords
        for user in BrokerUser.all {
            let (name, rights) = ("\(vhost.name)-\(user.name)", user.rights)
            let calls = [
                ("users/\(name)", ["password": passwords[user.name] ?? "", "tags": user.tags]),
                (
                    "permissions/\(vhost.name)/\(name)",
                    ["configure": rights.configure, "write": rights.write, "read": rights.read]
                ),
                (
                    "topic-permissions/\(vhost.name)/\(name)",
                    ["exchange": Topology.exchange, "write": rights.keys, "read": ".*"]
                ),
            ]
            for (path, values) in calls {
                let body = String(decoding: try JSONEncoder().encode(values), as: UTF8.self)
                try await vhost.management("PUT", path, body: body)
            }
        }
    }

    /// Deletes them: users are not of one virtual host.
    func deleteBrokerUsers(on vhost: TestVhost) async {
        for user in BrokerUser.all {
            _ = try? await vhost.management("DELETE", "users/\(vhost.name)-\(user.name)")
        }
    }

    private static var choices: SuiteChoices {
        var choices = SuiteChoices()
        // All tests together are a few people at one address.
        choices.rateLimit = "1000000/1"
        choices.graceSeconds = 5
        choices.keepsSandboxState = false
        choices.hasGateway = false
        return choices
    }
}
