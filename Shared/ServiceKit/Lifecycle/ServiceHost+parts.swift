import AMQP
public import Contracts
public import Hummingbird
public import Messaging

extension ServiceHost {
    /// A router whose errors are JSON:API; the edge around it is added by `run`.
    public func router() -> Router<AppRequestContext> {
        // Whatever GET answers, HEAD answers without the body.
        Router(context: AppRequestContext.self, options: .autoGenerateHeadEndpoints)
            .add(middleware: ErrorMiddleware())
            .add(middleware: QueryMiddleware())
    }

    /// Lets only users with a good session token through.
    public func authentication() -> AuthenticationMiddleware {
        AuthenticationMiddleware(verifier: self.clerkVerifier())
    }

    /// Verifies session tokens.
    ///
    /// Make one per service: it holds the caches.
    public func clerkVerifier() -> ClerkVerifier {
        ClerkVerifier(settings: self.settings.clerk, http: self.http, clock: self.clock, logger: self.logger)
    }

    /// Checks approvals of outbound money.
    ///
    /// Make one per service: it holds the caches.
    public func approvals() -> ApprovalVerifier {
        let (store, handlers) = (ApprovalFactStore(), self.handlers)
        return self.approvals { try await store.facts($0, on: handlers) }
    }

    private func approvals(facts: @escaping ApprovalVerifier.Facts) -> ApprovalVerifier {
        ApprovalVerifier(
            settings: self.settings.auth,
            http: self.http,
            clock: self.clock,
            logger: self.logger,
            facts: facts
        )
    }

    /// Lets requests take effect once.
    public func idempotency() -> IdempotentExecutor {
        let shared = self.leases.map { IdempotentExecutor.Shared(lease: $0, epoch: self.databaseEpoch) }
        return IdempotentExecutor(postgres: self.handlers, shared: shared, metrics: self.idempotencyMetrics)
    }

    /// What is remembered of messages from outside.
    public func messageMemory() -> MessageMemory {
        let redis = self.settings.has(.redis) ? self.redis : nil
        return MessageMemory(
            redis.map { PatientRedis($0, patience: IdempotencyLease.patience) },
            epoch: self.databaseEpoch,
            service: self.settings.service,
            metrics: self.idempotencyMetrics
        )
    }

    /// Events and jobs of the service.
    ///
    /// - Throws: `ConfigurationProblem` for a URL that the broker's client refuses.
    public func messaging(
        as service: ServiceName,
        plan: (_ requests: EventDatabase, _ work: EventDatabase) -> MessagingRuntime.Plan
    ) throws(ConfigurationProblem) -> MessagingRuntime {
        let broker = try self.broker()
        return MessagingRuntime(
            service: service,
            requests: self.handlers,
            work: self.workers,
            broker: broker,
            topology: try ServiceClients.topology(self.settings),
            management: try self.management(virtualHost: broker.virtualHost),
            clock: self.clock,
            ids: self.ids,
            logger: self.logger,
            spans: self.spans,
            memory: self.eventMemory(of: service),
            epoch: self.databaseEpoch,
            plan: plan
        )
    }

    /// What spares repeated events a transaction; nil without Redis.
    private func eventMemory(of service: ServiceName) -> RedisEventMemory? {
        guard self.settings.has(.redis) else { return nil }
        return RedisEventMemory(self.redis, service: service.rawValue, metrics: self.idempotencyMetrics)
    }

    private func management(virtualHost: String) throws(ConfigurationProblem) -> (any BrokerManagement)? {
        guard let url = self.settings.broker.managementURL else { return nil }
        guard let management = RabbitMQManagement(url: url, virtualHost: virtualHost, http: self.http) else {
            throw SettingsReader.problem(.rabbitmqManagementURL, "not a URL")
        }
        return management
    }
}
