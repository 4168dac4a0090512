public import Logging

/// What a service is told from outside: one value, read once at the start.
public struct ServiceSettings: Sendable {
    /// The parts of the outside world that a service uses; only their settings are read.
    public struct Needs: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Wraps bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Its own Postgres database.
        public static let database = Needs(rawValue: 1)
        /// RabbitMQ.
        public static let broker = Needs(rawValue: 2)
        /// Redis.
        public static let redis = Needs(rawValue: 4)
        /// Session tokens of users.
        public static let clerk = Needs(rawValue: 8)
        /// The internal port of `auth`: approval keys.
        public static let auth = Needs(rawValue: 16)
        /// Counts requests by itself although it has a Redis: a payment waits for no count.
        public static let ownCounts = Needs(rawValue: 32)
        /// People's data keys, of `auth`: only for who seals or opens what is personal.
        public static let dataKeys = Needs(rawValue: 64)
        /// The broker's management API: one service sets the policies, for whoever sets them decides where messages go.
        public static let policies = Needs(rawValue: 128)

        /// The token of whoever collects a person's own data.
        public static let exports = Needs(rawValue: 256)

        /// All of them.
        public static let all: Needs = [
            .database, .broker, .redis, .clerk, .auth, .dataKeys, .policies, .exports,
        ]
    }

    /// Where the service runs.
    public enum Profile: String, Sendable {
        /// Real money.
        case production
        /// Development and tests: the clock may be moved.
        case sandbox
    }

    /// The service's name: `account`.
    public let service: String
    /// Where it runs.
    public let profile: Profile
    /// The public server.
    public let http: HTTPSettings
    /// The internal port.
    public let internalServer: InternalSettings
    /// Log lines below are not written.
    public let logLevel: Logger.Level
    /// How long a graceful shutdown may take.
    public let shutdownGrace: Duration
    /// Where spans go; nil when they go nowhere.
    public let tracing: TracingSettings?
    /// Reads the service's own keys.
    public let reader: SettingsReader

    private let databaseOrNone: DatabaseSettings?
    private let brokerOrNone: BrokerSettings?
    /// Redis, if the service has one.
    let redisOrNone: RedisSettings?
    /// Whether the processes of the service count requests together, in Redis.
    let countsTogether: Bool
    private let clerkOrNone: ClerkSettings?
    private let authOrNone: AuthSettings?
    private let dataKeysOrNone: DataKeySettings?
    private let exportTokensOrNone: SecretList?

    /// Reads all settings that the service needs.
    ///
    /// - Throws: `ConfigurationProblem` for the first that is missing or malformed.
    public init(service: String, needs: Needs, reader: SettingsReader) throws(ConfigurationProblem) {
        self.service = service
        self.reader = reader
        self.profile = Profile(rawValue: try reader.text(.profile)) ?? .production
        self.logLevel = Logger.Level(rawValue: try reader.text(.logLevel)) ?? .info
        self.shutdownGrace = try reader.seconds(.shutdownGrace)
        self.http = try HTTPSettings(reader)
        self.internalServer = try InternalSettings(reader)
        self.tracing = try TracingSettings(reader)
        self.databaseOrNone = needs.contains(.database) ? try DatabaseSettings(reader) : nil
        self.brokerOrNone =
            needs.contains(.broker) ? try BrokerSettings(reader, setsPolicies: needs.contains(.policies)) : nil
        self.redisOrNone = needs.contains(.redis) ? try RedisSettings(reader) : nil
        self.countsTogether = needs.contains(.redis) && !needs.contains(.ownCounts)
        self.clerkOrNone = needs.contains(.clerk) ? try ClerkSettings(reader) : nil
        self.authOrNone = needs.contains(.auth) ? try AuthSettings(reader) : nil
        self.dataKeysOrNone = needs.contains(.dataKeys) ? try DataKeySettings(reader) : nil
        self.exportTokensOrNone = needs.contains(.exports) ? try reader.narrowSecrets(.exportsToken) : nil
    }

    /// The database.
    public var database: DatabaseSettings { self.declared(self.databaseOrNone, "database") }
    /// The broker.
    public var broker: BrokerSettings { self.declared(self.brokerOrNone, "broker") }
    /// The URL of Redis.
    public var redisURL: String { self.declared(self.redisOrNone, "redis").url }
    /// Session tokens.
    public var clerk: ClerkSettings { self.declared(self.clerkOrNone, "clerk") }
    /// The internal port of `auth`.
    public var auth: AuthSettings { self.declared(self.authOrNone, "auth") }
    /// Where people's data keys are.
    public var dataKeys: DataKeySettings { self.declared(self.dataKeysOrNone, "dataKeys") }
    /// What opens exports, the one that is sent first.
    public var exportTokens: SecretList { self.declared(self.exportTokensOrNone, "exports") }

    /// Whether the service declared a need.
    public func has(_ need: Needs) -> Bool {
        (!need.contains(.database) || self.databaseOrNone != nil)
            && (!need.contains(.broker) || self.brokerOrNone != nil)
            && (!need.contains(.redis) || self.redisOrNone != nil)
            && (!need.contains(.clerk) || self.clerkOrNone != nil)
            && (!need.contains(.auth) || self.authOrNone != nil)
            && (!need.contains(.dataKeys) || self.dataKeysOrNone != nil)
            && (!need.contains(.exports) || self.exportTokensOrNone != nil)
    }

    private func declared<Value>(_ value: Value?, _ need: String) -> Value {
        guard let value else {
            preconditionFailure("\(self.service) uses .\(need) but does not declare it in its needs")
        }
        return value
    }
}
