import Foundation
import Hummingbird
public import Logging
import NIOCore
import OutgoingHTTP
public import Primitives
public import ServiceLifecycle
import UnixSignals

/// The whole stand-in: provider, Clerk and push service with one control API.
public struct SandboxApplication: Service {
    private let services: [any Service]
    private let http: HTTPClient
    private let logger: Logger

    /// Wires everything.
    ///
    /// - Parameters:
    ///   - configuration: From the environment or a test.
    ///   - time: The clock.
    ///   - logger: For problems; requests are not logged.
    ///   - onListening: Called with the port once requests can come.
    ///   - onListeningForPushes: The same for the push port.
    /// - Throws: When the state cannot be read or a key cannot be made.
    public init(
        configuration: SandboxConfiguration,
        time: any TimeSource = SystemClock(),
        logger: Logger,
        onListening: @escaping @Sendable (Int) async -> Void = { _ in },
        onListeningForPushes: @escaping @Sendable (Int) async -> Void = { _ in }
    ) throws {
        let http = HTTPClient()
        let sender = WebhookSender(http: http, logger: logger)
        let provider = try Provider(configuration: configuration, sender: sender, time: time, logger: logger)
        let keys = ClerkKeys(directory: configuration.stateDirectory)
        let recorder = PushRecorder()
        let providerKeys = ProviderKeys(configuration.apiKeys)
        let control = ControlRoutes(
            provider: provider,
            keys: providerKeys,
            sender: sender,
            recorder: recorder,
            configuration: configuration
        )
        let router = Self.router()
        AnchorRoutes(provider: provider, keys: providerKeys).add(to: router)
        ClerkRoutes(keys: keys, configuration: configuration, sender: sender, time: time).add(to: router)
        control.add(to: router)
        var services: [any Service] = [provider]
        services.append(Self.server(router, configuration, configuration.port, logger, onListening))
        if let port = configuration.pushPort {
            let pushes = Self.router()
            APNsRoutes(recorder: recorder, provider: provider, time: time).add(to: pushes)
            services.append(Self.server(pushes, configuration, port, logger, onListeningForPushes))
        }
        self.services = services
        self.http = http
        self.logger = logger
    }

    private static func router() -> Router<SandboxContext> {
        let router = Router(context: SandboxContext.self)
        router.middlewares.add(RefusalMiddleware())
        return router
    }

    private static func server(
        _ router: Router<SandboxContext>,
        _ configuration: SandboxConfiguration,
        _ port: Int,
        _ logger: Logger,
        _ onListening: @escaping @Sendable (Int) async -> Void
    ) -> some Service {
        Application(
            router: router,
            configuration: .init(address: .hostname(configuration.host, port: port), serverName: nil),
            onServerRunning: { channel in await onListening(channel.localAddress?.port ?? port) },
            logger: logger
        )
    }

    /// Serves until shut down or cancelled.
    public func run() async throws {
        let group = ServiceGroup(configuration: .init(services: self.services, logger: self.logger))
        do {
            try await group.run()
        } catch {
            await self.http.shutdown()
            throw error
        }
        await self.http.shutdown()
    }

    /// Serves until SIGTERM or SIGINT.
    public func runUntilSignal() async throws {
        let group = ServiceGroup(
            configuration: .init(services: [self], gracefulShutdownSignals: [.sigterm, .sigint], logger: self.logger)
        )
        try await group.run()
    }
}
