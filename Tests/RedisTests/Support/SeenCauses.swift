import EventLoops
import Logging
import Redis

/// Hears from a client's log why its connections end.
final class SeenCauses: Sendable {
    private let causes = Locked<[String]>([])

    var logger: Logger { Logger(label: "test") { _ in Handler(causes: self) } }

    /// The first, once there is one; a server that has not started yet does not count.
    func first() async throws -> String {
        let deadline = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < deadline {
            if let cause = self.causes.withLock({ $0.first { $0 != "Connection refused" } }) { return cause }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw SetupFailure(description: "no connection has ended")
    }

    private struct Handler: LogHandler {
        let causes: SeenCauses
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        init(causes: SeenCauses) { self.causes = causes }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { self.metadata[key] }
            set { self.metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if let cause = event.metadata?["cause"] { self.causes.causes.withLock { $0.append("\(cause)") } }
        }
    }
}

/// Hears from a client which commands fail.
final class SeenErrors: Sendable {
    private let seen = Locked<[RedisError.Code]>([])

    var codes: [RedisError.Code] { self.seen.withLock { $0 } }

    @Sendable func note(_ error: RedisError) { self.seen.withLock { $0.append(error.code) } }
}
