import Contracts

/// What a suite is made from: addresses, secrets and choices, before anything is started.
public struct SuiteGround: Sendable {
    /// The folder with the executables.
    public let binaries: String
    /// The folder `deploy` of the repository.
    public let deploy: String
    /// The folder in which parts keep files: pictures, the sandbox's state, a certificate.
    public let files: String
    /// The folder of the logs.
    public let logs: String
    /// The ports by name; see `portNames`.
    public let ports: [String: Int]
    /// Keys, tokens and passwords.
    public let secrets: SuiteSecrets
    /// The servers that the parts use.
    public let servers: SuiteServers
    /// The databases by service; a service without one cannot be started.
    public let databases: [String: SuiteDatabase]
    /// What may be different from suite to suite.
    public var choices: SuiteChoices
    /// The folder with what shows the description of the API, if there is one.
    public let reference: String?

    /// Puts it together.
    public init(
        binaries: String,
        deploy: String,
        files: String,
        logs: String,
        ports: [String: Int],
        secrets: SuiteSecrets,
        servers: SuiteServers,
        databases: [String: SuiteDatabase],
        choices: SuiteChoices,
        reference: String? = nil
    ) {
        self.binaries = binaries
        self.deploy = deploy
        self.files = files
        self.logs = logs
        self.ports = ports
        self.secrets = secrets
        self.servers = servers
        self.databases = databases
        self.choices = choices
        self.reference = reference
    }

    /// The services, in the order in which people name them.
    public static let services = ServiceName.allCases.map(\.rawValue)
    /// The name of the part that plays the world outside.
    public static let sandbox = "sandbox"
    /// The name of the part that stands before its push service.
    public static let apple = "apple"
    /// The name of the part that people and apps call.
    public static let gateway = "gateway"
    /// The origin that may ask for session tokens.
    public static let authorizedParty = "https://app.sandbox.transfa.test"
    /// Who issues session tokens.
    public static let issuer = "https://clerk.sandbox.transfa.test"
    /// The provider's account that holds money drops.
    public static let poolAccount = "17000000000000-anc_acc"

    /// The names of all ports that a suite with these choices needs.
    public static func portNames(_ choices: SuiteChoices) -> [String] {
        SuitePartKind.all(choices).flatMap(\.portNames)
    }

    /// Where clients call a part.
    public func publicURL(_ name: String) -> String { "http://127.0.0.1:\(self.ports[name] ?? 0)" }

    /// Where peers and operators call a part.
    public func internalURL(_ name: String) -> String { self.publicURL("\(name)-internal") }
}

/// The servers that a suite uses, as addresses with their passwords.
public struct SuiteServers: Sendable, Codable, Equatable {
    /// `postgres://` of the superuser.
    public let postgres: String
    /// `amqp://` with the virtual host.
    public let rabbitmq: String
    /// The management API of the broker.
    public let management: String
    /// `redis://` with the number of the database.
    public let redis: String
    /// What the names of the broker's users begin with, one per service; nil when all services are its administrator.
    public let brokerUsers: String?

    /// Servers at these addresses.
    public init(
        postgres: String,
        rabbitmq: String,
        management: String,
        redis: String,
        brokerUsers: String? = nil
    ) {
        self.brokerUsers = brokerUsers
        self.postgres = postgres
        self.rabbitmq = rabbitmq
        self.management = management
        self.redis = redis
    }
}

/// What may be different from suite to suite.
public struct SuiteChoices: Sendable, Equatable {
    /// All limits of requests, such as "1000000/1"; nil leaves them as documented.
    public var rateLimit: String?
    /// The level of all logs.
    public var logLevel = "info"
    /// How long a graceful shutdown may take, in seconds.
    public var graceSeconds = 10
    /// Where a build that measures its coverage writes: nowhere, and not into the folder that it was started from.
    public var profile = "/dev/null"
    /// Whether the sandbox knows after a restart what it knew before.
    public var keepsSandboxState = true
    /// Whether the gateway runs, which is then the address of all services.
    public var hasGateway = true
    /// Whether a second console runs, which reads no event log and takes events by `transfactl events import`.
    public var hasImporter = false

    /// As `scripts/run` has it.
    public init() {}
}
