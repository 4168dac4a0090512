import Foundation

/// The private Postgres, Redis and RabbitMQ that a test may use.
///
/// `shared()` are those of the whole run: a test may create databases, vhosts and keys there and must never stop or
/// disturb them. A test that hurts a server takes its own with `withPrivateServers`.
public struct TestServers: Sendable {
    /// The folder that `scripts/servers` made.
    public let directory: String
    private let settings: [String: String]

    /// The servers of this run, from the variables that `scripts/test` sets.
    public static func shared() throws -> TestServers {
        try TestServers(settings: ProcessInfo.processInfo.environment)
    }

    /// Servers described by the lines of a `servers.env`, or by the process environment.
    public init(settings: [String: String]) throws {
        self.settings = settings.filter { $0.key.hasPrefix("TRANSFA_TEST_") }
        guard let directory = settings["TRANSFA_TEST_SERVERS_DIR"] else {
            throw Self.missing("TRANSFA_TEST_SERVERS_DIR")
        }
        self.directory = directory
    }

    /// `postgres://` of the superuser, to the database `postgres`.
    public var postgresURL: String { get throws { try self.value("TRANSFA_TEST_POSTGRES_URL") } }

    /// `amqp://` of an administrator, to the default vhost.
    public var rabbitmqURL: String { get throws { try self.value("TRANSFA_TEST_RABBITMQ_URL") } }

    /// `amqps://localhost` of the same node, whose certificate names localhost only: 127.0.0.1 is the wrong host.
    public var rabbitmqTLSURL: String { get throws { try self.value("TRANSFA_TEST_RABBITMQ_TLS_URL") } }

    /// `http://user:password@host:port` of the management API.
    public var managementURL: String { get throws { try self.value("TRANSFA_TEST_RABBITMQ_MANAGEMENT_URL") } }

    /// Path of a `rabbitmqctl` for this node.
    public var rabbitmqctl: String { get throws { try self.value("TRANSFA_TEST_RABBITMQCTL") } }

    /// `redis://` of database 0, which tests leave alone: see `withTestRedis`.
    public var redisURL: String { get throws { try self.value("TRANSFA_TEST_REDIS_URL") } }

    /// Path of the certificate authority that signed the servers' certificate (Postgres and amqps).
    public var certificateAuthority: String { get throws { try self.value("TRANSFA_TEST_TLS_CA") } }

    /// Starts, stops and kills these servers; for private servers only.
    public var control: ServerControl { ServerControl(directory: self.directory) }

    private func value(_ name: String) throws -> String {
        guard let value = self.settings[name] else { throw Self.missing(name) }
        return value
    }

    private static func missing(_ name: String) -> TestFailure {
        TestFailure("\(name) is not set: run the tests with scripts/test, or see scripts/servers for one test by hand")
    }
}
