/// The public HTTP server.
public struct HTTPSettings: Sendable {
    /// The address it binds.
    public let host: String
    /// The port; 0 picks a free one.
    public let port: Int
    /// A request that takes longer is answered 503.
    public let deadline: Duration
    /// A longer body is answered 413.
    public let bodyLimit: Int
    /// How many requests are taken.
    public let rateLimits: RateLimitSettings
    /// Whose `X-Forwarded-For` is believed.
    public let trustedProxies: TrustedProxies
    /// How long the other side may keep us waiting; the internal port's too.
    let connections: ConnectionLimits

    /// Reads `PORT`, `HOST`, `REQUEST_DEADLINE_SECONDS`, `REQUEST_BODY_LIMIT_BYTES`, `RATE_LIMIT_*`, `TRUSTED_PROXIES`,
    /// `REQUEST_HEAD_SECONDS`, `CONNECTION_IDLE_SECONDS`, `ANSWER_STALL_SECONDS`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.host = try reader.text(.host)
        self.port = try reader.integer(.port)
        self.deadline = try reader.seconds(.deadline)
        self.bodyLimit = try reader.integer(.bodyLimit)
        self.rateLimits = try RateLimitSettings(reader)
        self.trustedProxies = try TrustedProxies(reader)
        self.connections = ConnectionLimits(
            head: try reader.seconds(.requestHead),
            idle: try reader.seconds(.connectionIdle),
            stall: try reader.seconds(.answerStall)
        )
    }
}

/// The internal port.
public struct InternalSettings: Sendable {
    /// The address it binds.
    public let host: String
    /// The port; 0 picks a free one.
    public let port: Int
    /// The bearer tokens of everything but health, several while one is being replaced.
    public let tokens: SecretList
    /// The bearer tokens that open `/metrics` alone; nil when none do.
    let metricsTokens: SecretList?

    /// Reads `INTERNAL_PORT`, `INTERNAL_HOST`, `INTERNAL_TOKEN`, `METRICS_TOKEN`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.host = try reader.text(.internalHost)
        self.port = try reader.integer(.internalPort)
        self.tokens = try reader.secrets(.internalToken, minimum: 16)
        self.metricsTokens = try reader.optionalNarrowSecrets(.metricsToken)
    }
}

/// The service's database.
public struct DatabaseSettings: Sendable {
    /// As the handler role.
    public let handlerURL: String
    /// As the worker role.
    public let workerURL: String

    /// Reads `DATABASE_URL`, `WORKER_DATABASE_URL`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.handlerURL = try reader.text(.databaseURL)
        self.workerURL = try reader.text(.workerDatabaseURL)
    }
}

/// The broker.
public struct BrokerSettings: Sendable {
    /// For connections.
    public let url: String
    /// For what is declared, as a user who may; nil when that is the same.
    public let topologyURL: String?
    /// The management API, if there is one and the service looks after policies.
    public let managementURL: String?

    /// Reads `RABBITMQ_URL`, `RABBITMQ_TOPOLOGY_URL`, and for who looks after policies `RABBITMQ_MANAGEMENT_URL`.
    public init(_ reader: SettingsReader, setsPolicies: Bool) throws(ConfigurationProblem) {
        self.url = try reader.text(.rabbitmqURL)
        self.topologyURL = try reader.optionalText(.rabbitmqTopologyURL)
        self.managementURL = setsPolicies ? try reader.optionalText(.rabbitmqManagementURL) : nil
    }
}

/// Session tokens.
public struct ClerkSettings: Sendable {
    /// Where the public keys are.
    public let jwksURL: String
    /// The exact issuer.
    public let issuer: String
    /// Origins that may have asked for a token.
    public let authorizedParties: Set<String>
    /// Whether a token must name one.
    public let requireAuthorizedParty: Bool
    /// How long a token may be good for, from issue to expiry.
    public let longestToken: Duration

    /// The settings.
    public static let keys: [SettingKey] = [
        .clerkJWKSURL, .clerkIssuer, .clerkAuthorizedParties, .clerkRequireAZP, .clerkLongestToken,
    ]

    private static let longestInEarnest = Duration.seconds(86_400)

    /// Reads `CLERK_JWKS_URL`, `CLERK_ISSUER`, `CLERK_AUTHORIZED_PARTIES`, `CLERK_REQUIRE_AZP`,
    /// `CLERK_LONGEST_TOKEN_SECONDS`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.jwksURL = try reader.text(.clerkJWKSURL)
        self.issuer = try reader.text(.clerkIssuer)
        self.authorizedParties = Set(try reader.list(.clerkAuthorizedParties))
        self.requireAuthorizedParty = try reader.flag(.clerkRequireAZP)
        self.longestToken = try reader.seconds(.clerkLongestToken)
        let profile = try reader.text(.profile)
        if self.longestToken > Self.longestInEarnest, profile != "sandbox" {
            throw SettingsReader.problem(.clerkLongestToken, "must be at most 86400 unless TRANSFA_PROFILE is sandbox")
        }
        if self.requireAuthorizedParty, self.authorizedParties.isEmpty {
            throw SettingsReader.problem(.clerkAuthorizedParties, "must not be empty while CLERK_REQUIRE_AZP is true")
        }
    }
}

/// The internal port of `auth`, for approval keys.
public struct AuthSettings: Sendable {
    /// Its base URL, without a slash at the end.
    public let url: String
    /// Its bearer token.
    public let token: String

    /// Reads `AUTH_INTERNAL_URL`, `INTERNAL_TOKEN`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.url = try reader.base(.authInternalURL)
        self.token = try reader.secrets(.internalToken).current
    }
}

/// Where people's data keys are.
public struct DataKeySettings: Sendable {
    /// The base URL of the internal port of `auth`, without a slash at the end.
    public let url: String
    /// What opens data keys there, and nothing else.
    public let token: String

    /// Reads `AUTH_INTERNAL_URL`, `DATA_KEYS_TOKEN`.
    public init(_ reader: SettingsReader) throws(ConfigurationProblem) {
        self.url = try reader.base(.authInternalURL)
        self.token = try reader.narrowSecrets(.dataKeysToken).current
    }
}

extension SettingsReader {
    fileprivate func base(_ key: SettingKey) throws(ConfigurationProblem) -> String {
        let url = try self.text(key)
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}
