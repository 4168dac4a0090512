/// What a request under a key does next: a pure function of what Redis says and of how long the request has waited.
struct IdempotencyMachine: Sendable {
    /// So long a request waits for the one that runs.
    ///
    /// Longer than nearly all take, and shorter than clients wait. After that the holder may be dead, and Postgres is
    /// asked, which knows.
    static let longestWait = Duration.milliseconds(1300)
    private static let longestPause = Duration.milliseconds(100)

    /// What to do.
    enum Step: Sendable, Equatable {
        /// Answer with the copy.
        case replay(StoredAnswer, IdempotencyMetrics.Outcome)
        /// Run; whoever holds no lease leaves no copy.
        case run(holding: IdempotencyLease.Hold?)
        /// Look again after a while.
        case wait(Duration)
    }

    private var waited = Duration.zero
    private var pause = Duration.milliseconds(20)

    /// Goes on.
    mutating func next(_ finding: IdempotencyLease.Finding) -> Step {
        switch finding {
        case .answered(let answer): return .replay(answer, self.waited == .zero ? .repeatRedis : .waited)
        case .mine(let hold): return .run(holding: hold)
        case .unknown: return .run(holding: nil)
        case .running:
            guard self.waited < Self.longestWait else { return .run(holding: nil) }
            defer { self.pause = min(self.pause * 2, Self.longestPause) }
            self.waited += self.pause
            return .wait(self.pause)
        }
    }
}
