import EventLoops

/// Looks at a connection's calls from a thread of its own: the connection's thread is the one that may be stuck.
actor Watchdog {
    private let loop: EventLoopThread
    private let callGuard: CallGuard
    private let limit: Duration
    private var isRunning = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    init(watching callGuard: CallGuard, limit: Duration, on loop: EventLoopThread) {
        self.callGuard = callGuard
        self.limit = limit
        self.loop = loop
    }

    func start() {
        guard !self.isRunning else { return }
        self.isRunning = true
        self.look()
    }

    private func look() {
        self.callGuard.check(limit: self.limit)
        self.loop.schedule(after: self.limit / 4) { [weak self] in self?.assumeIsolated { $0.look() } }
    }
}
