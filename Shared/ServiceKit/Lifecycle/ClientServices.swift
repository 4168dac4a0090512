import Foundation
import Logging
import OutgoingHTTP
import Postgres
import Primitives
import Redis
import ServiceLifecycle

/// A client whose `run()` keeps connections until it is cancelled, as a service of the group.
struct ClientService: Service, CustomStringConvertible {
    let description: String
    let body: @Sendable () async -> Void

    init(_ name: String, body: @escaping @Sendable () async -> Void) {
        self.description = name
        self.body = body
    }

    func run() async {
        await cancelWhenGracefulShutdown { await self.body() }
    }
}

/// Closes the HTTP client when everybody who uses it has stopped.
struct HTTPClientService: Service, CustomStringConvertible {
    let client: HTTPClient
    let description = "http-client"

    func run() async {
        try? await gracefulShutdown()
        await self.client.shutdown()
    }
}

/// The first to stop: says "not ready", so that nobody sends requests to a server that is about to close.
struct ReadinessGate: Service, CustomStringConvertible {
    let readiness: Readiness
    let description = "readiness"

    func run() async {
        try? await gracefulShutdown()
        self.readiness.drain()
    }
}

/// In the sandbox profile: follows the offset in the database, so that all replicas and restarts agree on the time.
struct SandboxClockService: Service, CustomStringConvertible {
    static let interval = Duration.milliseconds(500)

    let clock: AdjustableClock
    let postgres: PostgresClient
    let description = "sandbox-clock"

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.follow()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    /// An answer that comes after somebody has set both clocks may be of the time before: the next look counts then.
    private func follow() async {
        let seen = self.clock.settings
        let rows = try? await self.postgres.query(
            "SELECT round(extract(epoch FROM moved) * 1000)::bigint FROM clock_offset"
        )
        guard let row = rows?.first, let milliseconds = try? row.decode(Int64.self) else { return }
        self.clock.follow(.milliseconds(milliseconds), unlessSetSince: seen)
    }
}

/// Drops data keys whose time is over.
struct DataKeySweeper: Service, CustomStringConvertible {
    static let interval = Duration.seconds(30)

    let keys: DataKeyClient
    let description = "data-key-sweeper"

    func run() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: Self.interval)
                self.keys.dropExpired()
            }
        }
    }
}
