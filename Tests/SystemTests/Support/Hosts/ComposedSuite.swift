import DevSuite
import Foundation
import TestSupport

/// A suite of containers that runs already: `scripts/compose-test` names it in TRANSFA_TEST_COMPOSED.
///
/// It is brought up and taken down there; the tests use it and leave it running.
struct ComposedSuite: Sendable {
    private let settings: [String: String]

    /// The suite that the tests are to use in place of one of their own.
    static func named() throws -> ComposedSuite? {
        guard let file = ProcessInfo.processInfo.environment["TRANSFA_TEST_COMPOSED"] else { return nil }
        return ComposedSuite(settings: try environmentFile(at: file))
    }

    /// A setting of its file.
    func value(_ name: String) throws -> String {
        guard let value = self.settings[name], !value.isEmpty else {
            throw TestFailure("the composed suite has no setting \(name)")
        }
        return value
    }

    /// What its services keep secret, by setting.
    var secrets: [String: String] {
        Dictionary(
            uniqueKeysWithValues: self.settings.compactMap { name, value in
                name.hasPrefix("SECRET_") ? (String(name.dropFirst("SECRET_".count)), value) : nil
            }
        )
    }

    /// Those of its secrets that tests use themselves; the others are empty.
    func suiteSecrets() throws -> SuiteSecrets {
        try SuiteSecrets { name in
            switch name {
            case .internalToken: try self.value("INTERNAL_TOKEN")
            case .metricsToken: try self.value("METRICS_TOKEN")
            case .dataKeysToken: try self.value("DATA_KEYS_TOKEN")
            case .exportsToken: try self.value("EXPORTS_TOKEN")
            case .anchorAPIKey: try self.value("ANCHOR_API_KEY")
            case .anchorWebhookToken: try self.value("ANCHOR_WEBHOOK_TOKEN")
            case .operatorAda: try self.value("OPERATOR_ADA_TOKEN")
            case .operatorBola: try self.value("OPERATOR_BOLA_TOKEN")
            case .clerkWebhookSecret: String(try self.value("CLERK_WEBHOOK_SECRET").trimmingPrefix("whsec_"))
            case .masterKey, .approvalSigningKey, .pinPepper, .blindIndexKey, .pushKey, .brokerSeed: ""
            }
        }
    }

    /// The ports at which clients reach the services and the sandbox.
    func ports() throws -> [String: Int] {
        try self.ports(of: SuiteEnvironment.names + [SuiteEnvironment.sandbox], named: "PORT")
    }

    /// The ports at which peers and operators reach the services.
    func internalPorts() throws -> [String: Int] {
        try self.ports(of: SuiteEnvironment.names, named: "INTERNAL_PORT")
    }

    private func ports(of names: [String], named kind: String) throws -> [String: Int] {
        try Dictionary(
            uniqueKeysWithValues: names.map { name in
                let text = try self.value("\(name.uppercased())_\(kind)")
                guard let port = Int(text) else { throw TestFailure("\(text) is no port of \(name)") }
                return (name, port)
            }
        )
    }

    /// The host that starts its services.
    func host() throws -> ComposeHost {
        // A project, and files with paths: no word has a space in it.
        let words = try self.value("COMPOSE_COMMAND").split(separator: " ").map(String.init)
        return ComposeHost(
            docker: DockerCommands(compose: words, engine: try self.value("DOCKER_HOST")),
            project: try self.value("COMPOSE_PROJECT"),
            address: try self.value("HOST_ADDRESS"),
            folder: "\(Scratch.directory)/compose"
        )
    }

    /// What it runs on.
    func ground() throws -> RunningSuite.Ground {
        let vhost = TestVhost(
            name: try self.value("RABBITMQ_VHOST"),
            url: try self.value("RABBITMQ_URL"),
            managementURL: try self.value("RABBITMQ_MANAGEMENT_URL")
        )
        return RunningSuite.Ground(vhost: vhost, redis: try self.value("REDIS_URL"), composed: self)
    }

    /// The databases of its services.
    func databases() throws -> [String: TestDatabase] {
        let superuser = try self.value("POSTGRES_URL")
        let databases = SuiteEnvironment.names.map { TestDatabase.existing($0, superuserURL: superuser) }
        return Dictionary(uniqueKeysWithValues: zip(SuiteEnvironment.names, databases))
    }
}
