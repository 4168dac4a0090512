import CLibPQ
import EventLoops
import Synchronization

/// One connection: a libpq handle that is only touched on its event loop's thread.
///
/// Callers put segments into the mailbox from any thread; they are sent in that order, the answers are read in the same
/// order, and the callers wake. Everything libpq does here is non-blocking.
///
/// The work is done by `turn()`, in callbacks of the loop and not in a task that sleeps in between: a continuation that is
/// resumed goes through the global executor before it comes back to this thread. Until then the socket would stay readable
/// and the loop find it so again and again.
actor Wire {
    /// What callers and the loop share.
    private struct Mailbox {
        var segments: [Segment] = []
        /// Something handed in may still be sent.
        var isOpen = true
        var isClosing = false
        var isWakeUnderWay = false
    }

    /// What the server has been sent and has not answered.
    enum Expected {
        case prepared(text: String)
        case executed(index: Int, text: String)
        case deallocated
        case deallocationSync
        case sync
    }

    nonisolated let loop: EventLoopThread
    private nonisolated let mailbox = Locked(Mailbox())
    /// Segments that are not answered yet, in the mailbox and under way; grows under the mailbox's lock only.
    nonisolated let unanswered = Atomic<Int>(0)
    private nonisolated let depth: Int
    let timeLimit: Duration

    var handle: OpaquePointer?
    var cache: StatementCache
    var expected = Queue<Expected>()
    /// The item at the front of `expected` has a result and lacks its end.
    var hasResult = false
    /// Segments that were sent, in order.
    var underWay = Queue<Segment>()
    private var waiting = Queue<Segment>()

    private let socket: CInt
    private var armed: EventLoopThread.Interest = []
    private var isReadable = true
    private var isAwake = false
    private var isTurning = false
    /// Waits for the end; set while the connection is served.
    private var keeper: Handover<PostgresError?>?
    private var isCancelUnderWay = false
    private var progress: ContinuousClock.Instant = .now
    private var watchdog: TimerID?
    private var overdue = 0
    private var reasonToGiveUp: String?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    /// Takes over a connected handle.
    init(_ handle: ConnectedHandle, on loop: EventLoopThread, configuration: PostgresConfiguration) {
        self.loop = loop
        self.depth = configuration.pipelineDepth
        self.timeLimit = configuration.statementTimeout
        self.cache = StatementCache(capacity: configuration.preparedStatements)
        self.handle = handle.pointer
        self.socket = PQsocket(handle.pointer)
    }

    // MARK: Callers, on any thread

    /// Whether a segment handed in now would be sent.
    nonisolated var isOpen: Bool { self.mailbox.withLock { $0.isOpen && !$0.isClosing } }

    /// Segments that are not answered yet.
    nonisolated var load: Int { self.unanswered.load(ordering: .relaxed) }

    /// Sends a segment and waits for its answer.
    nonisolated func run(_ segment: Segment) async -> Segment.Outcome {
        // Cancelled before this line: the handler has run by now and the segment is answered without being sent.
        await withTaskCancellationHandler {
            await withHandover { caller in
                segment.answer(to: caller)
                self.hand(in: segment)
            }
        } onCancel: {
            segment.isCancelled.store(true, ordering: .releasing)
            self.loop.submit { self.assumeIsolated { $0.cancel(segment) } }
        }
    }

    /// Sends a segment and waits for its answer even when the task is cancelled.
    nonisolated func runToTheEnd(_ segment: Segment) async -> Segment.Outcome {
        await withHandover { caller in
            segment.answer(to: caller)
            self.hand(in: segment)
        }
    }

    private nonisolated func hand(in segment: Segment) {
        enum Answer {
            case taken
            case wake
            case refused(PostgresError)
        }
        let answer = self.mailbox.withLock { mailbox -> Answer in
            guard mailbox.isOpen, !mailbox.isClosing else {
                return .refused(PostgresError(.notConnected, "the connection has ended"))
            }
            guard self.unanswered.load(ordering: .relaxed) < self.depth else {
                return .refused(PostgresError(.overloaded, "too many statements wait on the connection"))
            }
            mailbox.segments.append(segment)
            self.unanswered.add(1, ordering: .relaxed)
            if mailbox.isWakeUnderWay { return .taken }
            mailbox.isWakeUnderWay = true
            return .wake
        }
        switch answer {
        case .taken: break
        case .wake: self.loop.submit { self.assumeIsolated { $0.wake() } }
        case .refused(let error):
            segment.fail(error)
            segment.finish()
        }
    }

    /// Ends the connection once everything handed in is answered.
    nonisolated func close() {
        self.mailbox.withLock { $0.isClosing = true }
        self.loop.submit { self.assumeIsolated { $0.wake() } }
    }

    /// Ends the connection without waiting for anything.
    nonisolated func abort() {
        self.mailbox.withLock { $0.isClosing = true }
        self.loop.submit {
            self.assumeIsolated { $0.giveUp("the client stopped") }
        }
    }

    // MARK: The connection, on its loop

    /// Works until the connection is lost or closed.
    ///
    /// Call it once; cancellation does not end it, `close()` does.
    ///
    /// - Returns: Why it was lost; nil when it was closed.
    func serve() async -> PostgresError? {
        await withHandover { keeper in
            self.keeper = keeper
            self.turn()
        }
    }

    /// Does all that can be done now, and says what the loop is to call for next.
    private func turn() {
        self.isTurning = true
        defer { self.isTurning = false }
        do throws(PostgresError) {
            repeat {
                self.isAwake = false
                guard try self.step() else { return self.end(nil) }
                self.watch(for: PQflush(self.handle) == 1 ? [.read, .write] : .read)
            } while self.isAwake
        } catch {
            self.end(error)
        }
    }

    /// One round of what `turn()` does.
    ///
    /// - Returns: False when the connection was to be closed and nothing is left to do.
    private func step() throws(PostgresError) -> Bool {
        if let reason = self.reasonToGiveUp { throw PostgresError(.connectionLost, reason) }
        let isAlive = self.consumeInput()
        // What had arrived before the end is answered first.
        try self.receive()
        if !isAlive { throw self.lostError() }
        let isClosing = self.collect()
        try self.send()
        guard PQflush(self.handle) >= 0 else { throw self.lostError() }
        return !(isClosing && self.isIdle)
    }

    private var isIdle: Bool { self.underWay.isEmpty && self.waiting.isEmpty && !self.isCancelUnderWay }

    private func consumeInput() -> Bool {
        guard self.isReadable else { return true }
        self.isReadable = false
        self.progress = .now
        self.overdue = 0
        repeat {
            if PQconsumeInput(self.handle) == 0 { return false }
        } while transfa_tls_pending(self.handle) > 0
        return true
    }

    /// Takes new segments out of the mailbox.
    private func collect() -> Bool {
        self.mailbox.withLock { mailbox in
            mailbox.isWakeUnderWay = false
            if !mailbox.segments.isEmpty {
                self.waiting.append(contentsOf: mailbox.segments)
                mailbox.segments.removeAll(keepingCapacity: true)
            }
            return mailbox.isClosing
        }
    }

    /// Sends what waits, until the socket is full.
    ///
    /// Text of several statements goes alone.
    private func send() throws(PostgresError) {
        while let segment = self.waiting.first, !self.isCancelUnderWay, PQflush(self.handle) == 0 {
            if !self.underWay.isEmpty && (segment.isSimple || self.underWay.last?.isSimple == true) { return }
            self.waiting.removeFirst()
            if segment.isCancelled.load(ordering: .acquiring) {
                segment.fail(PostgresError(.cancelled, "the task was cancelled before the statement was sent"))
            }
            if self.underWay.isEmpty { self.startWatching() }
            self.underWay.append(segment)
            try self.post(segment)
        }
    }

    // MARK: Readiness

    /// Says when the loop is to call.
    ///
    /// Read interest stays armed, so that this costs a system call only when the socket was or is full.
    private func watch(for interest: EventLoopThread.Interest) {
        guard self.armed != interest else { return }
        self.armed = interest
        self.loop.watch(self.socket, for: interest) { [unowned self] ready in
            // The loop calls on its own thread, and `end` unwatches before the actor goes.
            self.assumeIsolated { wire in
                if ready.contains(.read) { wire.isReadable = true }
                wire.wake()
            }
        }
    }

    /// Something is to be done: the socket is ready, a segment has arrived or a timer asks for attention.
    ///
    /// Before `serve()` and after the end there is nobody to do it for.
    func wake() {
        self.isAwake = true
        if self.keeper != nil && !self.isTurning { self.turn() }
    }

    // MARK: Cancelling and time limits

    private func cancel(_ segment: Segment) {
        guard self.handle != nil else { return }
        guard let oldest = self.underWay.first, self.underWay.elements.contains(where: { $0 === segment }) else {
            return
        }
        guard segment.isCancellable else {
            segment.fail(PostgresError(.cancelled, "the task was cancelled while the statement ran"))
            return segment.finish()
        }
        if oldest.isCancellable { self.requestCancel() }
    }

    /// Asks the server to stop the running statement.
    ///
    /// Nothing new is sent until the request has arrived: it stops whatever runs then.
    private func requestCancel() {
        guard !self.isCancelUnderWay, let request = PQgetCancel(self.handle) else { return }
        self.isCancelUnderWay = true
        // libpq gives a cancel request no time limit, and nothing is sent meanwhile.
        let limit = self.loop.schedule(after: cancelLimit) { [weak self] in
            self?.assumeIsolated { $0.giveUp("a cancel request did not get through in time") }
        }
        let handle = CancelHandle(pointer: request)
        SideThread.start {
            handle.send()
            self.loop.submit {
                self.assumeIsolated { wire in
                    wire.loop.cancel(limit)
                    wire.isCancelUnderWay = false
                    wire.wake()
                }
            }
        }
    }

    private func startWatching() {
        self.progress = .now
        self.overdue = 0
        guard self.watchdog == nil, self.timeLimit > .zero else { return }
        self.scheduleWatchdog(at: self.progress + self.timeLimit + watchdogSlack)
    }

    private func scheduleWatchdog(at instant: ContinuousClock.Instant) {
        self.watchdog = self.loop.schedule(after: ContinuousClock.now.duration(to: instant)) { [weak self] in
            self?.assumeIsolated { $0.checkProgress() }
        }
    }

    /// The server's own `statement_timeout` comes first; this is for a server or a network that does not answer.
    private func checkProgress() {
        self.watchdog = nil
        guard self.handle != nil, let oldest = self.underWay.first else { return }
        let deadline = self.progress + self.timeLimit + watchdogSlack
        if ContinuousClock.now < deadline { return self.scheduleWatchdog(at: deadline) }
        self.overdue += 1
        if oldest.isCancellable && self.overdue == 1 {
            self.requestCancel()
            return self.scheduleWatchdog(at: .now + watchdogSlack * 2)
        }
        self.giveUp("the server did not answer in time")
    }

    private func giveUp(_ reason: String) {
        self.reasonToGiveUp = reason
        self.wake()
    }

    // MARK: The end

    private func lostError() -> PostgresError {
        PostgresError(.connectionLost, "the connection to the server was lost")
    }

    /// Answers everybody and closes the handle.
    private func end(_ failure: PostgresError?) {
        let left = self.mailbox.withLock { mailbox in
            mailbox.isOpen = false
            defer { mailbox.segments = [] }
            return mailbox.segments
        }
        self.loop.unwatch(self.socket)
        if let watchdog = self.watchdog { self.loop.cancel(watchdog) }
        PQfinish(self.handle)
        self.handle = nil
        let lost = failure ?? self.lostError()
        for segment in self.underWay.elements {
            segment.fail(PostgresError(.connectionLost, lost.message, sqlState: lost.sqlState))
            segment.finish()
        }
        for segment in self.waiting.elements + left {
            segment.fail(PostgresError(.notConnected, "the connection has ended"))
            segment.finish()
        }
        self.underWay = Queue()
        self.waiting = Queue()
        self.keeper.take()?.give(failure)
    }
}

/// How much later than the server's own limit we act.
private let watchdogSlack: Duration = .seconds(1)

/// How long a cancel request may take before the connection is given up.
private let cancelLimit: Duration = .seconds(5)
