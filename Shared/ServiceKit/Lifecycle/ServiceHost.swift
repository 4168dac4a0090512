public import AMQP
public import Logging
import Messaging
import NIOCore
public import OutgoingHTTP
public import Postgres
public import Primitives
public import Redis
import ServiceLifecycle

/// What a service stands on: settings, clients, clock, ids, metrics, readiness; built once, by `ServiceMain` or by a
/// test, and handed to the service's composition root.
///
/// Nothing connects before `run`.
public struct ServiceHost: Sendable {
    /// What the service was told from outside.
    public let settings: ServiceSettings
    /// The service's logger.
    public let logger: Logger
    /// The clock that all code reads.
    public let clock: AdjustableClock
    /// Ids for everything new.
    public let ids: any IdentifierSource
    /// Metrics of the process.
    public let metrics: PrometheusRegistry
    /// Whether requests may come; services add checks.
    public let readiness: Readiness
    /// For calls to other systems.
    public let http: HTTPClient
    /// The port of the public server, once it listens.
    public let publicPort = BoundPort()
    /// The internal port, once it listens.
    public let internalPort = BoundPort()
    /// Coarse deadlines of requests.
    let wheel = DeadlineWheel()
    /// Counts the requests of the public server.
    let limiter: RateLimiter
    /// Seals cursors of lists.
    let cursors: CursorSeal
    /// Sends spans away; nil when no endpoint is set.
    let spans: SpanExporter?
    /// Counts what comes twice.
    let idempotencyMetrics: IdempotencyMetrics
    /// Leases and copies of answers; nil without Redis.
    let leases: IdempotencyLease?
    /// Hashes secrets in requests, for telling whether a request is the same again.
    public let keyedHash: KeyedHash

    private let handlersOrNone: PostgresClient?
    private let workersOrNone: PostgresClient?
    private let redisOrNone: RedisClient?
    private let dataKeysOrNone: DataKeyClient?
    private let epochOrNone: DatabaseEpoch?

    /// Builds the clients that the settings ask for.
    ///
    /// - Throws: `ConfigurationProblem` for a URL that a client refuses.
    public init(
        settings: ServiceSettings,
        logger: Logger,
        metrics: PrometheusRegistry = PrometheusRegistry(),
        clock: AdjustableClock = AdjustableClock(),
        ids: (any IdentifierSource)? = nil
    ) throws(ConfigurationProblem) {
        self.settings = settings
        self.logger = logger
        self.metrics = metrics
        self.clock = clock
        self.ids = ids ?? UUIDv7Source(clock: clock)
        self.readiness = Readiness()
        self.handlersOrNone = try ServiceClients.postgres(.handler, settings, logger)
        self.workersOrNone = try ServiceClients.postgres(.worker, settings, logger)
        let redis = try settings.redisOrNone?.client(logger, metrics)
        self.redisOrNone = redis
        self.epochOrNone = self.handlersOrNone.map(DatabaseEpoch.init)
        self.idempotencyMetrics = IdempotencyMetrics(metrics)
        let secrets = DerivedKeys(settings)
        let (cursors, requests) = (secrets.keys(for: "cursors"), secrets.keys(for: "secrets in requests"))
        let seal = CopySeal(secrets.keys(for: "copies of answers"))
        self.leases = redis.map { IdempotencyLease($0, seal: seal) }
        self.cursors = CursorSeal(cursors[0], others: Array(cursors.dropFirst()))
        self.keyedHash = KeyedHash(requests[0], others: Array(requests.dropFirst()))
        self.limiter = RateLimiter(
            settings: settings.http.rateLimits,
            shared: (settings.countsTogether ? redis : nil).map {
                SharedBuckets($0, secret: secrets.key(for: "rate limits"), service: settings.service)
            },
            metrics: metrics
        )
        let http = ServiceClients.http(metrics)
        self.http = http
        self.spans = settings.tracing.map {
            SpanExporter(settings: $0, service: settings.service, http: http, logger: logger, metrics: metrics)
        }
        self.dataKeysOrNone =
            settings.has(.dataKeys) ? DataKeyClient(settings: settings.dataKeys, http: self.http) : nil
    }

    /// Postgres as the handler role: requests.
    public var handlers: PostgresClient { Self.declared(self.handlersOrNone, ".database") }
    /// Postgres as the worker role: consumers and jobs.
    public var workers: PostgresClient { Self.declared(self.workersOrNone, ".database") }
    /// Redis.
    public var redis: RedisClient { Self.declared(self.redisOrNone, ".redis") }
    /// Which history of the database this is.
    var databaseEpoch: DatabaseEpoch { Self.declared(self.epochOrNone, ".database") }
    /// The users' data keys.
    public var dataKeys: DataKeyClient { Self.declared(self.dataKeysOrNone, ".dataKeys") }

    /// The broker.
    ///
    /// - Throws: `ConfigurationProblem` for a URL that the client refuses.
    public func broker() throws(ConfigurationProblem) -> AMQPConfiguration {
        try ServiceClients.broker(self.settings)
    }

    /// Lets go of what a host holds that never ran; `run` does it by itself.
    public func close() async {
        await self.http.shutdown()
    }

    /// What runs below the service's own parts, in the order of starting.
    func clientServices() -> [any Service] {
        var services: [any Service] = [HTTPClientService(client: self.http), self.wheel]
        if let spans = self.spans { services.append(spans) }
        if let handlers = self.handlersOrNone {
            services.append(ClientService("postgres-handlers") { await handlers.run() })
        }
        if let workers = self.workersOrNone {
            services.append(ClientService("postgres-workers") { await workers.run() })
            if self.settings.profile == .sandbox {
                services.append(SandboxClockService(clock: self.clock, postgres: workers))
            }
        }
        if let handlers = self.handlersOrNone, let workers = self.workersOrNone {
            services.append(
                DatabaseMetrics(
                    clients: [("handler", handlers), ("worker", workers)],
                    registry: self.metrics,
                    logger: self.logger
                )
            )
        }
        if let redis = self.redisOrNone {
            services.append(ClientService("redis") { await redis.run() })
        }
        if let keys = self.dataKeysOrNone {
            services.append(DataKeySweeper(keys: keys))
        }
        return services
    }

    func addClientChecks() {
        if let handlers = self.handlersOrNone {
            self.readiness.add("postgres") { (try? await handlers.query("SELECT 1")) != nil }
        }
        if let redis = self.redisOrNone {
            self.readiness.add("redis", .informational) { redis.isConnected }
        }
    }

    private static func declared<Value>(_ value: Value?, _ need: String) -> Value {
        guard let value else { preconditionFailure("the service does not declare \(need) in its needs") }
        return value
    }
}
