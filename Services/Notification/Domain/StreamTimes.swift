/// The clock of one live stream: decides, from what it is told, when to send a sign of life, when to end, and when to
/// give its reader up.
struct StreamTimes: Sendable {
    /// The times that all streams of a process keep.
    struct Limits: Sendable {
        /// The longest silence.
        var heartbeat = Duration.seconds(15)
        /// The session was checked when the stream began: it must be checked again.
        ///
        /// Shorter for a token that ends before.
        var lifetime = Duration.seconds(600)
        /// A reader that takes nothing for so long is gone or too slow.
        var patience = Duration.seconds(10)
    }

    /// What is to be done.
    enum Due: Sendable, Hashable {
        case nothing
        /// Send a comment.
        case heartbeat
        /// End it in good order; the client comes back.
        case end
        /// Cut the connection.
        case abandon
    }

    private enum Phase {
        /// Promised, and the body not yet asked for.
        case promised(since: ContinuousClock.Instant)
        case idle(since: ContinuousClock.Instant)
        case writing(since: ContinuousClock.Instant)
    }

    private let limits: Limits
    private let opened: ContinuousClock.Instant
    private var phase: Phase

    init(_ limits: Limits, now: ContinuousClock.Instant) {
        self.limits = limits
        self.opened = now
        self.phase = .promised(since: now)
    }

    /// A write begins.
    mutating func begin(at now: ContinuousClock.Instant) { self.phase = .writing(since: now) }

    /// The reader's side has taken what was written.
    mutating func end(at now: ContinuousClock.Instant) { self.phase = .idle(since: now) }

    /// What is to be done at a moment.
    func due(at now: ContinuousClock.Instant) -> Due {
        switch self.phase {
        case .promised(let since), .writing(let since):
            return now - since >= self.limits.patience ? .abandon : .nothing
        case .idle(let since):
            if now - self.opened >= self.limits.lifetime { return .end }
            return now - since >= self.limits.heartbeat ? .heartbeat : .nothing
        }
    }
}
