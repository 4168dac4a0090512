import CHiredis
import EventLoops
import Logging

/// Owns the hiredis context. Everything here runs on one loop thread; hiredis locks nothing.
///
/// hiredis answers strictly in the order of sending (commands that break this are refused before), so the replies are
/// matched with `pending` by position. When a context ends, for whatever reason, it answers every command that is left
/// with nil and then calls the `cleanup` hook: that hook is the one place where a connection ends.
actor RedisDriver {
    enum Phase: Equatable {
        case idle
        case connecting
        case handshaking
        case ready(since: ContinuousClock.Instant)
    }

    nonisolated let loop: EventLoopThread
    let gate: Gate
    let configuration: RedisConfiguration
    let logger: Logger

    var phase = Phase.idle
    var context: UnsafeMutablePointer<redisAsyncContext>?
    var wantsWrite = false
    var watched: EventLoopThread.Interest = []
    var pending = FIFO<Batch>()
    var unsettled = 0
    /// Answered inside a callback, to be told to the callers once hiredis is left.
    var finished: [(Handover<Answer>, Answer)] = []
    var freed = (commands: 0, bytes: 0)
    var lastProgress = ContinuousClock.now
    var hasProgressed = false
    /// No unsettled command has an earlier deadline; there may be none any more that has this one.
    var nextDeadline: ContinuousClock.Instant?
    var sweep: (timer: TimerID, at: ContinuousClock.Instant)?
    var connectTimer: TimerID?
    var isStopping = false
    var causeOfEnd: RedisError?
    var ended: CheckedContinuation<ConnectionEnd, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    init(loop: EventLoopThread, gate: Gate, configuration: RedisConfiguration, logger: Logger) {
        self.loop = loop
        self.gate = gate
        self.configuration = configuration
        self.logger = logger
    }

    // MARK: Events: each enters here and leaves through `leave`

    func bellRang() {
        // First what was accepted before the stop: the gate takes nothing after it.
        self.transmitQueue()
        if self.gate.isStopping { self.beginStop() }
        self.leave()
    }

    func descriptorIsReady(_ ready: EventLoopThread.Interest) {
        if ready.contains(.read), let context = self.context { redisAsyncHandleRead(context) }
        if ready.contains(.write), let context = self.context { redisAsyncHandleWrite(context) }
        self.leave()
    }

    /// Brings everything outside hiredis in line with what happened inside.
    func leave() {
        self.flush()
        if self.hasProgressed { self.lastProgress = .now }
        self.hasProgressed = false
        if let cause = self.causeOfEnd { self.giveUp(cause) }
        if self.isStopping, self.unsettled == 0 { self.giveUp(RedisError(.lost, "stopped")) }
        self.updateInterest()
        self.scheduleSweep()
        // Before the callers are told: one that hears of a lost connection must find the client closed.
        if self.context == nil { self.gate.close() }
        self.tellCallers()
        if self.context == nil { self.finish() }
    }

    /// Writes what has gathered at once: waiting for readiness first would cost two system calls per write.
    private func flush() {
        guard self.wantsWrite, self.phase != .connecting, let context = self.context else { return }
        guard !self.watched.contains(.write) else { return }
        redisAsyncHandleWrite(context)
    }

    private func updateInterest() {
        guard let context = self.context else { return }
        let wanted: EventLoopThread.Interest = self.wantsWrite ? [.read, .write] : .read
        guard wanted != self.watched else { return }
        self.watched = wanted
        self.loop.watch(context.pointee.c.fd, for: wanted) { [unowned self] ready in
            self.assumeIsolated { $0.descriptorIsReady(ready) }
        }
    }

    private func tellCallers() {
        self.gate.release(commands: self.freed.commands, bytes: self.freed.bytes)
        self.freed = (0, 0)
        let finished = self.finished
        self.finished.removeAll(keepingCapacity: true)
        for (caller, answer) in finished { caller.give(answer) }
    }

    // MARK: Commands

    func transmitQueue() {
        for submission in self.gate.take() { self.transmit(submission) }
    }

    private func transmit(_ submission: Submission) {
        let batch = Batch(
            caller: .outside(submission.caller),
            deadline: submission.deadline,
            commandCount: submission.commands.count,
            byteCount: submission.byteCount
        )
        guard case .ready = self.phase else {
            self.freed.commands += batch.commandCount
            self.freed.bytes += batch.byteCount
            return self.conclude(batch, RedisError(.unavailable, "not connected"))
        }
        self.send(submission.commands, as: batch)
    }

    func send(_ commands: [RedisCommand], as batch: Batch) {
        if self.pending.isEmpty { self.lastProgress = .now }
        self.pending.append(batch)
        self.unsettled += 1
        self.nextDeadline = min(self.nextDeadline ?? batch.deadline, batch.deadline)
        for command in commands {
            let status = command.withArguments { count, arguments, lengths in
                redisAsyncCommandArgv(
                    self.context,
                    { context, reply, _ in
                        // Copied here: hiredis frees the reply when this returns.
                        let copy = reply.map {
                            RedisValue(copying: $0.assumingMemoryBound(to: redisReply.self).pointee)
                        }
                        RedisDriver.of(context?.pointee.data) { $0.receive(copy) }
                    },
                    nil,
                    count,
                    arguments,
                    lengths
                )
            }
            // Refused only by a context that is ending, which we never keep.
            precondition(status == REDIS_OK, "hiredis took no command on a live connection")
        }
    }

    /// One reply, or nil for a command that will never be answered.
    ///
    /// Runs inside hiredis: calls nothing there.
    private func receive(_ reply: RedisValue?) {
        guard let batch = self.pending.first else { preconditionFailure("a reply that no command waits for") }
        self.hasProgressed = true
        batch.receive(reply)
        guard batch.isComplete else { return }
        self.pending.removeFirst()
        if case .outside = batch.caller {
            self.freed.commands += batch.commandCount
            self.freed.bytes += batch.byteCount
        }
        if !batch.isSettled { self.unsettled -= 1 }
        self.conclude(batch)
    }

    /// Answers the caller unless that has happened: a reply after the deadline ends here.
    private func conclude(_ batch: Batch, _ failure: RedisError? = nil) {
        guard let answer = batch.settle(with: failure) else { return }
        switch batch.caller {
        case .outside(let caller): self.finished.append((caller, answer))
        case .handshake: self.handshakeEnded(answer)
        }
    }

    // MARK: Deadlines

    private func scheduleSweep() {
        guard let next = self.nextSweep() else { return }
        if let sweep = self.sweep {
            guard next < sweep.at else { return }
            self.loop.cancel(sweep.timer)
        }
        let delay = max(ContinuousClock.now.duration(to: next), .milliseconds(1))
        let timer = self.loop.schedule(after: delay) { [unowned self] in
            self.assumeIsolated { $0.sweepNow() }
        }
        self.sweep = (timer, next)
    }

    private func nextSweep() -> ContinuousClock.Instant? {
        guard self.context != nil, !self.pending.isEmpty else {
            self.nextDeadline = nil
            return nil
        }
        let stuckAt = self.lastProgress + self.configuration.stuckAfter
        return min(stuckAt, self.nextDeadline ?? stuckAt)
    }

    private func sweepNow() {
        self.sweep = nil
        let now = ContinuousClock.now
        var next: ContinuousClock.Instant?
        for batch in self.pending.elements {
            guard !batch.isSettled else { continue }
            if batch.deadline > now {
                next = min(next ?? batch.deadline, batch.deadline)
            } else {
                self.unsettled -= 1
                self.conclude(batch, RedisError(.timedOut, "no reply within the deadline"))
            }
        }
        self.nextDeadline = next
        if !self.pending.isEmpty, self.lastProgress + self.configuration.stuckAfter <= now {
            self.giveUp(RedisError(.lost, "no reply for too long"))
        }
        self.leave()
    }

    // MARK: hiredis

    /// The driver that a context belongs to.
    // Valid: the driver outlives its context (`serve` returns after the cleanup hook), and hiredis calls back only
    // from inside our own calls, on the loop thread, which `assumeIsolated` checks.
    static func of(_ raw: UnsafeMutableRawPointer?, _ body: (isolated RedisDriver) -> Void) {
        guard let raw else { preconditionFailure("a hiredis context without its driver") }
        Unmanaged<RedisDriver>.fromOpaque(raw).takeUnretainedValue().assumeIsolated(body)
    }
}
