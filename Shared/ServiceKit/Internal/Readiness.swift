import EventLoops

/// Whether the service may be sent requests.
public final class Readiness: Sendable {
    /// What a failing check means.
    public enum Weight: Sendable {
        /// The service cannot do its work.
        case required
        /// It is slower or later, not wrong: Redis, the broker.
        case informational
    }

    /// The result of all checks.
    public struct Report: Sendable {
        /// Whether requests may come.
        public let isReady: Bool
        /// Whether something is missing without which requests are slower or later.
        public let isDegraded: Bool
        /// Name and result of each check.
        public let checks: [(name: String, isGood: Bool)]
    }

    private struct Check: Sendable {
        let name: String
        let weight: Weight
        let isGood: @Sendable () async -> Bool
    }

    private struct State: Sendable {
        var checks: [Check] = []
        var isDraining = false
    }

    private let state = Locked(State())

    /// Creates one without checks: ready.
    public init() {}

    /// Adds a named check; it must answer within a second or two.
    public func add(_ name: String, _ weight: Weight = .required, isGood: @escaping @Sendable () async -> Bool) {
        self.state.withLock { $0.checks.append(Check(name: name, weight: weight, isGood: isGood)) }
    }

    /// From now on, not ready.
    ///
    /// The first step of a graceful shutdown.
    public func drain() {
        self.state.withLock { $0.isDraining = true }
    }

    /// Runs all checks.
    public func report() async -> Report {
        let state = self.state.withLock { $0 }
        var results = [(name: "running", isGood: !state.isDraining)]
        var isReady = !state.isDraining
        for check in state.checks {
            let isGood = await check.isGood()
            results.append((check.name, isGood))
            if check.weight == .required, !isGood {
                isReady = false
            }
        }
        return Report(isReady: isReady, isDegraded: results.contains { !$0.isGood }, checks: results)
    }
}
