import TestSupport
import Testing

/// Starts the services around a suite of tests and stops them afterwards.
struct RunningSuiteTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // A broker of its own, because a test kills it.
        try await withPrivateServers([.rabbitmq]) { servers in
            try await withTestVhost(on: servers) { vhost in
                try await withTestRedis { redis in
                    try await RunningSuite.with(vhost: vhost, broker: servers.control, redis: redis) {
                        try await function()
                    }
                }
            }
        }
    }
}

extension Trait where Self == RunningSuiteTrait {
    /// Gives the tests `RunningSuite.current`.
    static var runningSuite: Self { RunningSuiteTrait() }
}
