import EventLoops

/// The two threads of one connection: one makes every library call, the other watches that none takes too long.
///
/// They live as long as the client that owns them, so a call that arrives late still finds its thread.
final class LinkThreads: Sendable {
    let loop: EventLoopThread
    let callGuard = CallGuard()
    let watchdog: Watchdog
    private let watchdogLoop: EventLoopThread

    init(name: String, configuration: AMQPConfiguration) {
        self.loop = EventLoopThread(name: name)
        self.watchdogLoop = EventLoopThread(name: "amqp-watchdog")
        self.watchdog = Watchdog(watching: self.callGuard, limit: configuration.callLimit, on: self.watchdogLoop)
    }

    deinit {
        self.loop.stop()
        self.watchdogLoop.stop()
    }
}
