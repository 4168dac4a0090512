import TestSupport
import Testing

/// Starts the services around a suite of tests and stops them afterwards.
struct RunningSuiteTrait: SuiteTrait, TestScoping {
    /// What is started.
    enum Extent: Sendable {
        /// All services, on a broker that tests may hurt, and otherwise on the servers of the whole run; or the
        /// containers that run already.
        case whole
        /// All services, on the servers of the whole run, which no test may hurt; or the containers that run already.
        case gentle
        /// These services, on the servers of the whole run, which no test may hurt.
        case only([String])
        /// All services on a broker and a Redis that tests may hurt, and on two Postgres: one may be hurt, and has the
        /// databases of all services but these; theirs are on the Postgres of the whole run.
        case hurt(safe: Set<String>)
    }

    let extent: Extent

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        switch self.extent {
        case .whole: try await Self.runWhole(function)
        case .gentle where try ComposedSuite.named() != nil: try await Self.runWhole(function)
        case .gentle: try await Self.run(SuiteEnvironment.names, function)
        case .only(let services): try await Self.run(services, function)
        case .hurt(let safe): try await Self.run(safe: safe, function)
        }
    }

    private static func runWhole(_ function: () async throws -> Void) async throws {
        if let composed = try ComposedSuite.named() {
            return try await RunningSuite.with(try composed.ground()) { try await function() }
        }
        try await withPrivateServers([.rabbitmq]) { servers in
            try await withTestVhost(on: servers) { vhost in
                try await withTestRedis { redis in
                    let ground = RunningSuite.Ground(vhost: vhost, redis: redis, ownServers: servers)
                    try await RunningSuite.with(ground) { try await function() }
                }
            }
        }
    }

    private static func run(_ services: [String], _ function: () async throws -> Void) async throws {
        try await withTestVhost { vhost in
            try await withTestRedis { redis in
                let ground = RunningSuite.Ground(services: services, vhost: vhost, redis: redis)
                try await RunningSuite.with(ground) { try await function() }
            }
        }
    }

    private static func run(safe: Set<String>, _ function: () async throws -> Void) async throws {
        try await withPrivateServers([.postgres, .redis, .rabbitmq]) { servers in
            try await withTestVhost(on: servers) { vhost in
                try await withTestRedis(on: servers) { redis in
                    let ground = RunningSuite.Ground(
                        vhost: vhost,
                        redis: redis,
                        ownServers: servers,
                        elsewhere: Set(SuiteEnvironment.names).subtracting(safe)
                    )
                    try await RunningSuite.with(ground) { try await function() }
                }
            }
        }
    }
}

extension Trait where Self == RunningSuiteTrait {
    /// Gives the tests `RunningSuite.current`, all of it.
    static var runningSuite: Self { RunningSuiteTrait(extent: .whole) }

    /// Gives the tests `RunningSuite.current`.
    static func runningSuite(_ extent: RunningSuiteTrait.Extent) -> Self { RunningSuiteTrait(extent: extent) }
}
