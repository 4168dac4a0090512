extension SettingKey {
    static let port = SettingKey("PORT", .integer(0...65535), "port of the public HTTP server; 0 picks a free one")
    static let host = SettingKey("HOST", .text, default: "0.0.0.0", "address of the public HTTP server")
    static let deadline = SettingKey(
        "REQUEST_DEADLINE_SECONDS",
        .integer(1...300),
        default: "10",
        "a request that takes longer is answered 503"
    )
    static let bodyLimit = SettingKey(
        "REQUEST_BODY_LIMIT_BYTES",
        .integer(1024...16_777_216),
        default: "65536",
        "a longer body is answered 413"
    )
    static let requestHead = SettingKey(
        "REQUEST_HEAD_SECONDS",
        .integer(1...600),
        default: "10",
        "a connection that takes longer for the head of a request is closed"
    )
    static let connectionIdle = SettingKey(
        "CONNECTION_IDLE_SECONDS",
        .integer(1...3600),
        default: "75",
        "a connection without a request for so long is closed; longer than the gateway keeps one"
    )
    static let answerStall = SettingKey(
        "ANSWER_STALL_SECONDS",
        .integer(1...600),
        default: "30",
        "whoever takes nothing of an answer for so long is left"
    )
    static let internalPort = SettingKey(
        "INTERNAL_PORT",
        .integer(0...65535),
        "port of health, metrics and operations; 0 picks a free one"
    )
    static let internalHost = SettingKey(
        "INTERNAL_HOST",
        .text,
        default: "127.0.0.1",
        "address of the internal port"
    )
    static let internalToken = SettingKey(
        "INTERNAL_TOKEN",
        .list,
        secret: true,
        "bearer token of the internal port, 16 characters or more; several while one is being replaced: all are taken"
    )
    static let metricsToken = SettingKey(
        "METRICS_TOKEN",
        .list,
        optional: true,
        secret: true,
        "opens /metrics and nothing else, for Prometheus; several while one is being replaced: all are taken"
    )
    static let databaseURL = SettingKey(
        "DATABASE_URL",
        .url(["postgres", "postgresql"]),
        secret: true,
        "Postgres, as the handler role"
    )
    static let workerDatabaseURL = SettingKey(
        "WORKER_DATABASE_URL",
        .url(["postgres", "postgresql"]),
        secret: true,
        "Postgres, as the worker role"
    )
    static let migrationDatabaseURL = SettingKey(
        "MIGRATION_DATABASE_URL",
        .url(["postgres", "postgresql"]),
        secret: true,
        "Postgres, as the owner role; only read with --migrate"
    )
    static let rabbitmqURL = SettingKey(
        "RABBITMQ_URL",
        .url(["amqp", "amqps"]),
        secret: true,
        "RabbitMQ, several hosts allowed, as the user of the service"
    )
    static let rabbitmqTopologyURL = SettingKey(
        "RABBITMQ_TOPOLOGY_URL",
        .url(["amqp", "amqps"]),
        optional: true,
        secret: true,
        "RabbitMQ as the user that declares exchanges and queues; RABBITMQ_URL if not set"
    )
    static let rabbitmqManagementURL = SettingKey(
        "RABBITMQ_MANAGEMENT_URL",
        .url(["http", "https"]),
        secret: true,
        "management API; without it policies are not compared"
    )
    static let clerkJWKSURL = SettingKey(
        "CLERK_JWKS_URL",
        .url(["http", "https"]),
        "public keys of the session tokens"
    )
    static let clerkIssuer = SettingKey("CLERK_ISSUER", .url(["http", "https"]), "the exact issuer of session tokens")
    static let clerkAuthorizedParties = SettingKey(
        "CLERK_AUTHORIZED_PARTIES",
        .list,
        default: "",
        "origins that may have asked for a token (azp)"
    )
    static let clerkRequireAZP = SettingKey(
        "CLERK_REQUIRE_AZP",
        .flag,
        default: "false",
        "refuse tokens that name no authorised party"
    )
    static let authInternalURL = SettingKey(
        "AUTH_INTERNAL_URL",
        .url(["http", "https"]),
        "internal port of auth: data keys and approval keys"
    )
    /// For `auth`, which gives data keys out, and for services that ask for them.
    public static let dataKeysToken = SettingKey(
        "DATA_KEYS_TOKEN",
        .list,
        secret: true,
        "opens people's data keys at auth, 16 characters or more and no INTERNAL_TOKEN; several as that: the first is sent"
    )
    static let exportsToken = SettingKey(
        "EXPORTS_TOKEN",
        .list,
        secret: true,
        "opens what is held about a person, 16 characters or more and no INTERNAL_TOKEN; several as that: the first is sent"
    )
    /// For services that call the provider.
    public static let anchorKey = SettingKey(
        "ANCHOR_API_KEY",
        .list,
        secret: true,
        "the provider's API key; of several the first is sent"
    )
    /// For services that give links to people.
    public static let publicLink = SettingKey(
        "PUBLIC_LINK_URL",
        .url(["http", "https"]),
        default: "https://transfa.app",
        "what links of profiles, money drops and payment requests begin with"
    )
    static let logLevel = SettingKey(
        "LOG_LEVEL",
        .word(["trace", "debug", "info", "notice", "warning", "error", "critical"]),
        default: "info",
        "log lines below it are not written"
    )
    static let tracingEndpoint = SettingKey(
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        .url(["http", "https"]),
        optional: true,
        "a collector of OpenTelemetry; without it no spans are sent"
    )
    static let tracingHeaders = SettingKey(
        "OTEL_EXPORTER_OTLP_HEADERS",
        .list,
        optional: true,
        secret: true,
        "headers for the collector, as name=value, percent-encoded"
    )
    static let tracingProtocol = SettingKey(
        "OTEL_EXPORTER_OTLP_PROTOCOL",
        .word(["http/json"]),
        default: "http/json",
        "the one form in which spans are sent"
    )
    static let profile = SettingKey(
        "TRANSFA_PROFILE",
        .word(["production", "sandbox"]),
        default: "production",
        "sandbox lets the clock be moved"
    )
    static let shutdownGrace = SettingKey(
        "SHUTDOWN_GRACE_SECONDS",
        .integer(1...600),
        default: "20",
        "how long a graceful shutdown may take"
    )
}

extension ServiceSettings {
    /// The shared settings that a service with these needs reads, in the order of the documentation.
    public static func keys(for needs: Needs) -> [SettingKey] {
        let always: [SettingKey] = [
            .port, .host, .deadline, .bodyLimit, .requestHead, .connectionIdle, .answerStall, .internalPort,
            .internalHost, .internalToken, .metricsToken, .logLevel, .profile, .shutdownGrace, .tracingEndpoint,
            .tracingHeaders,
            .tracingProtocol,
        ]
        let database: [SettingKey] = [.databaseURL, .workerDatabaseURL, .migrationDatabaseURL]
        let clerk: [SettingKey] = [.clerkJWKSURL, .clerkIssuer, .clerkAuthorizedParties, .clerkRequireAZP]
        return always + RateLimitSettings.keys
            + (needs.contains(.database) ? database : [])
            + (needs.contains(.broker) ? [.rabbitmqURL, .rabbitmqTopologyURL] : [])
            + (needs.contains(.policies) ? [.rabbitmqManagementURL] : [])
            + (needs.contains(.redis) ? [RedisSettings.url] + RedisSettings.more : [])
            + (needs.contains(.clerk) ? clerk : [])
            + (needs.contains(.auth) || needs.contains(.dataKeys) ? [.authInternalURL] : [])
            + (needs.contains(.dataKeys) ? [.dataKeysToken] : [])
            + (needs.contains(.exports) ? [.exportsToken] : [])
    }
}
