public import Hummingbird
import Logging
public import Messaging
import NIOCore
public import ServiceLifecycle
public import UnixSignals

/// Routes under `/internal` that a token of their own opens, and the internal token does not.
public struct GuardedRoutes: Sendable {
    let tokens: SecretList
    let routes: ServiceParts.InternalRoutes

    /// Routes, and the tokens that open them.
    public init(_ tokens: SecretList, _ routes: @escaping ServiceParts.InternalRoutes) {
        self.tokens = tokens
        self.routes = routes
    }
}

/// The wired parts of a service, ready to run.
public struct ServiceParts: Sendable {
    /// A closure that adds routes under `/internal`, behind the internal token.
    public typealias InternalRoutes = @Sendable (RouterGroup<AppRequestContext>) -> Void

    let responder: RouterParts
    let publicRoutes: RouteIndex
    let messaging: MessagingRuntime?
    let services: [any Service]
    let internalRoutes: InternalRoutes
    let guardedRoutes: GuardedRoutes?
    let exports: OwnExports?
    /// The paths of pages.
    let pages: [String]
    let queries: RouteQueries

    /// What the service holds about people, and what opens it.
    struct OwnExports: Sendable {
        let exports: Exports
        let keys: (any DataKeys)?
    }

    /// A router is not Sendable; what is built from it is.
    struct RouterParts: Sendable {
        let make: @Sendable (ServiceHost, RequestJournal?) -> EdgeResponder
    }

    /// Names the parts.
    ///
    /// - Parameters:
    ///   - router: The public routes, from `ServiceHost.router()`.
    ///   - messaging: Events and jobs, if the service has any; gives the operations routes too.
    ///   - services: Own loops. They start after the clients and before the public server, in this order.
    ///   - queries: The query parameters of the routes, public and internal.
    ///   - pages: The public paths that are, with what is below them, for the browsers of people and not for programs: they
    ///     change with the pages, and no document describes them.
    ///   - guardedRoutes: Routes under `/internal` that a token of their own opens.
    ///   - exports: What the service holds about people, for those who ask for their own data.
    ///   - exportKeys: What opens it; the host's, where nothing else is said.
    ///   - internalRoutes: Routes under `/internal`.
    public init(
        router: Router<AppRequestContext>,
        messaging: MessagingRuntime? = nil,
        services: [any Service] = [],
        queries: RouteQueries = RouteQueries(),
        pages: [String] = [],
        guardedRoutes: GuardedRoutes? = nil,
        exports: Exports? = nil,
        exportKeys: (any DataKeys)? = nil,
        internalRoutes: @escaping InternalRoutes = { _ in }
    ) {
        let routes = router.buildResponder()
        let index = RouteIndex(router)
        let queries = queries.and(RouteQueries(free: pages)).and(.ofEveryService)
        self.responder = RouterParts { host, journal in
            EdgeResponder(
                routes: routes,
                index: index,
                ids: host.ids,
                wheel: host.wheel,
                deadline: host.settings.http.deadline,
                bodyLimit: host.settings.http.bodyLimit,
                metrics: HTTPRequestMetrics(host.metrics),
                clients: EdgeResponder.Clients(
                    proxies: host.settings.http.trustedProxies,
                    limiter: host.limiter,
                    cursors: host.cursors,
                    queries: queries
                ),
                journal: journal,
                spans: host.spans,
                clock: host.clock
            )
        }
        self.publicRoutes = index
        self.messaging = messaging
        self.services = services
        self.pages = pages
        self.queries = queries
        self.internalRoutes = internalRoutes
        self.guardedRoutes = guardedRoutes
        self.exports = exports.map { OwnExports(exports: $0, keys: exportKeys) }
    }
}

extension ServiceHost {
    /// Runs the service until a signal or a failure.
    ///
    /// Order of starting: clients, internal port, the service's own loops, messaging, public server. Stopping goes the
    /// other way: readiness turns false, the public server finishes its requests, consumers their batch, jobs and
    /// relay stop, loops stop, connections close. After `SHUTDOWN_GRACE_SECONDS` what still runs is cancelled.
    public func run(_ parts: ServiceParts, signals: [UnixSignal] = [.sigterm, .sigint]) async throws {
        var configuration = ServiceGroupConfiguration(
            services: self.services(of: parts).map { .init(service: $0) },
            gracefulShutdownSignals: signals,
            logger: self.logger
        )
        configuration.maximumGracefulShutdownDuration = self.settings.shutdownGrace
        configuration.maximumCancellationDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }

    func services(of parts: ServiceParts) -> [any Service] {
        self.addClientChecks()
        var services = self.clientServices()
        services.append(ReadinessMetrics(readiness: self.readiness, registry: self.metrics, logger: self.logger))
        // Its table is one of messaging's.
        let journal = parts.messaging.map { _ in
            RequestJournal(postgres: self.workers, logger: self.logger, metrics: self.metrics)
        }
        if let journal { services.append(journal) }
        services.append(self.internalServer(parts, journal))
        services += parts.services
        if let messaging = parts.messaging {
            services.append(
                OutboxMetrics(operations: messaging.operations, registry: self.metrics, logger: self.logger)
            )
            services.append(
                WorkMetrics(operations: messaging.operations, registry: self.metrics, logger: self.logger)
            )
            services.append(messaging)
        }
        services.append(
            self.server(
                parts.responder.make(self, journal),
                host: self.settings.http.host,
                port: self.settings.http.port,
                bound: self.publicPort
            )
        )
        services.append(ReadinessGate(readiness: self.readiness))
        return services
    }

    private func internalServer(_ parts: ServiceParts, _ journal: RequestJournal?) -> some Service {
        let router = self.router()
        let listing = RouteListing(public: parts.publicRoutes, pages: parts.pages, queries: parts.queries)
        InternalRoutes.add(
            to: router,
            tokens: self.settings.internalServer.tokens,
            readiness: self.readiness,
            metrics: self.metrics,
            metricsTokens: self.settings.internalServer.metricsTokens,
            guarded: [parts.guardedRoutes, self.exportRoutes(parts)].compactMap { $0 }
        ) { group in
            let operations = parts.messaging?.operations
            if let operations {
                OperationsRoutes(
                    operations: operations,
                    readiness: self.readiness,
                    answered: self.idempotencyMetrics
                )
                .add(to: group)
                ReplayRoutes(operations: operations).add(to: group)
            }
            ClockRoutes(clock: self.clock, profile: self.settings.profile) { offset in
                try await operations?.setClock(offset: offset)
            }
            .add(to: group)
            listing.add(to: group)
            parts.internalRoutes(group)
        }
        let index = RouteIndex(router)
        listing.complete(index)
        let edge = EdgeResponder(
            routes: router.buildResponder(),
            index: index,
            ids: self.ids,
            wheel: self.wheel,
            deadline: .seconds(30),
            bodyLimit: self.settings.http.bodyLimit,
            metrics: HTTPRequestMetrics(self.metrics),
            clients: EdgeResponder.Clients(cursors: self.cursors, queries: parts.queries, areOurs: true),
            journal: journal,
            spans: self.spans,
            clock: self.clock
        )
        let settings = self.settings.internalServer
        return self.server(edge, host: settings.host, port: settings.port, bound: self.internalPort)
    }

    /// What the service tells whoever collects a person's own data.
    private func exportRoutes(_ parts: ServiceParts) -> GuardedRoutes? {
        parts.exports.map { own in
            let keys = own.keys ?? (self.settings.has(.dataKeys) ? self.dataKeys : nil)
            let routes = ExportRoutes(exports: own.exports, client: self.workers, keys: keys)
            return GuardedRoutes(self.settings.exportTokens) { routes.add(to: $0) }
        }
    }

    private func server(_ edge: EdgeResponder, host: String, port: Int, bound: BoundPort) -> some Service {
        Application(
            responder: edge,
            server: LimitedHTTP.server(self.settings.http.connections),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port {
                    bound.announce(port)
                }
            },
            logger: self.logger
        )
    }
}
