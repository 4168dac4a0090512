import EventLoops
import Logging

/// Owns the connection. Everything here runs on one loop thread.
///
/// Redis answers strictly in the order of sending (commands that break this are refused before), so the replies are
/// matched with `pending` by position. When a connection ends, for whatever reason, every command that is left is
/// answered with nil: `endConnection` is the one place for that.
actor RedisDriver {
    enum Phase: Equatable {
        case idle
        case finding
        case connecting
        case handshaking
        case ready(since: ContinuousClock.Instant)
    }

    nonisolated let loop: EventLoopThread
    let gate: Gate
    let configuration: RedisConfiguration
    let tls: TLSContext?
    let logger: Logger

    var phase = Phase.idle
    var wire: RedisWire?
    var watched: EventLoopThread.Interest = []
    var pending = FIFO<Batch>()
    var unsettled = 0
    /// To be told to the callers once everything is in order again.
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
    var found: CheckedContinuation<Result<[Place], RedisError>, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    init(loop: EventLoopThread, gate: Gate, configuration: RedisConfiguration, tls: TLSContext?, logger: Logger) {
        self.loop = loop
        self.gate = gate
        self.configuration = configuration
        self.tls = tls
        self.logger = logger
    }

    // MARK: Events: each enters here and leaves through `leave`

    func bellRang() {
        // First what was accepted before the stop: the gate takes nothing after it.
        self.transmitQueue()
        if self.gate.isStopping { self.beginStop() }
        self.leave()
    }

    func descriptorIsReady() {
        guard let wire = self.wire else { return }
        do throws(RedisError) {
            try wire.proceed { self.receive($0) }
            if wire.isEstablished, self.phase == .connecting { self.connected() }
        } catch {
            self.endConnection(error)
        }
        self.leave()
    }

    /// Brings everything outside in line with what happened inside.
    func leave() {
        self.flush()
        if self.hasProgressed { self.lastProgress = .now }
        self.hasProgressed = false
        if let cause = self.causeOfEnd { self.endConnection(cause) }
        if self.isStopping, self.unsettled == 0 { self.endConnection(RedisError(.lost, "stopped")) }
        self.updateInterest()
        self.scheduleSweep()
        // Before the callers are told: one that hears of a lost connection must find the client closed.
        if self.wire == nil { self.gate.close() }
        self.tellCallers()
        if self.wire == nil { self.finish() }
    }

    /// Writes what has gathered at once: waiting for readiness first would cost two system calls per write.
    private func flush() {
        guard let wire = self.wire, !wire.interest.contains(.write) else { return }
        do throws(RedisError) { try wire.flush() } catch { self.endConnection(error) }
    }

    private func updateInterest() {
        guard let wire = self.wire, wire.interest != self.watched else { return }
        self.watched = wire.interest
        self.loop.watch(wire.descriptor, for: self.watched) { [unowned self] _ in
            self.assumeIsolated { $0.descriptorIsReady() }
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
            commandCount: submission.commandCount,
            byteCount: submission.bytes.count
        )
        guard case .ready = self.phase, self.wire != nil else {
            self.freed.commands += batch.commandCount
            self.freed.bytes += batch.byteCount
            return self.conclude(batch, RedisError(.unavailable, "not connected"))
        }
        self.send(submission.bytes, as: batch)
    }

    func send(_ bytes: [UInt8], as batch: Batch) {
        if self.pending.isEmpty { self.lastProgress = .now }
        self.pending.append(batch)
        self.unsettled += 1
        self.nextDeadline = min(self.nextDeadline ?? batch.deadline, batch.deadline)
        self.wire?.queue(bytes)
    }

    /// One reply, or nil for a command that will never be answered.
    func receive(_ reply: RedisValue?) {
        guard let batch = self.pending.first else {
            self.causeOfEnd = self.causeOfEnd ?? RedisError(.lost, "a reply came that no command waits for")
            return
        }
        self.hasProgressed = true
        batch.receive(reply)
        guard batch.isComplete else { return }
        self.pending.removeFirst()
        if case .outside = batch.caller {
            self.freed.commands += batch.commandCount
            self.freed.bytes += batch.byteCount
        }
        if !batch.isSettled { self.unsettled -= 1 }
        if batch.failure?.code == .readOnly {
            // A replica: there was a failover, and the server is looked for anew.
            self.causeOfEnd = self.causeOfEnd ?? batch.failure
        }
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
        guard self.wire != nil, !self.pending.isEmpty else {
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
            self.endConnection(RedisError(.lost, "no reply for too long"))
        }
        self.leave()
    }
}
