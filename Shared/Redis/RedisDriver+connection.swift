import CHiredis
import EventLoops
import Logging

/// How a connection ended.
struct ConnectionEnd: Sendable {
    let cause: RedisError
    /// How long commands were accepted; nil when it never came so far.
    let uptime: Duration?
}

extension RedisDriver {
    // MARK: The life of the client

    /// Connects again and again until cancelled.
    func serve() async {
        self.gate.setBell { [loop = self.loop] in
            loop.submit { self.assumeIsolated { $0.bellRang() } }
        }
        await withTaskCancellationHandler {
            var failures = 0
            while !self.gate.isStopping {
                let end = await withCheckedContinuation { continuation in
                    self.ended = continuation
                    self.open()
                }
                guard !self.gate.isStopping else { break }
                if let uptime = end.uptime, uptime > self.configuration.longestBackoff { failures = 0 }
                self.report(end, failures: failures)
                try? await Task.sleep(for: self.backoff(after: failures))
                failures += 1
            }
        } onCancel: {
            self.gate.stop()
        }
        self.gate.setBell(nil)
        // Whoever got in before the gate was closed but after the last ring was heard.
        self.transmitQueue()
        self.leave()
    }

    private func backoff(after failures: Int) -> Duration {
        let full = self.configuration.firstBackoff * Double(1 << min(failures, 16))
        return min(full, self.configuration.longestBackoff) * Double.random(in: 0.5...1)
    }

    private func report(_ end: ConnectionEnd, failures: Int) {
        // Once per outage: the attempts that follow are of no news.
        let level: Logger.Level = end.uptime != nil || failures == 0 ? .warning : .debug
        self.logger.log(
            level: level,
            "redis connection ended",
            metadata: ["redis": "\(self.configuration)", "cause": "\(end.cause.message)"]
        )
    }

    // MARK: Connecting

    /// Begins to connect; a name is resolved right here, which blocks this thread and no other.
    private func open() {
        self.phase = .connecting
        self.causeOfEnd = nil
        self.wantsWrite = false
        guard !self.gate.isStopping,
            let context = redisAsyncConnect(self.configuration.host, CInt(self.configuration.port))
        else { return self.leave() }
        guard context.pointee.err == 0 else {
            self.causeOfEnd = Self.cause(of: context)
            redisAsyncFree(context)
            return self.leave()
        }
        self.context = context
        self.install(context)
        self.connectTimer = self.loop.schedule(after: self.configuration.connectTimeout) { [unowned self] in
            self.assumeIsolated { driver in
                driver.connectTimer = nil
                driver.giveUp(RedisError(.unavailable, "connecting took too long"))
                driver.leave()
            }
        }
        self.leave()
    }

    private func install(_ context: UnsafeMutablePointer<redisAsyncContext>) {
        let driver = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.data = driver
        context.pointee.ev.data = driver
        // Reading is always wanted; writing is only noted here and acted on in `leave`.
        context.pointee.ev.addRead = { _ in }
        context.pointee.ev.delRead = { _ in }
        context.pointee.ev.addWrite = { raw in RedisDriver.of(raw) { $0.wantsWrite = true } }
        context.pointee.ev.delWrite = { raw in RedisDriver.of(raw) { $0.wantsWrite = false } }
        context.pointee.ev.cleanup = { raw in RedisDriver.of(raw) { $0.contextEnds() } }
        redisEnableKeepAlive(&context.pointee.c)
        // This asks for the first write, which completes the connect.
        redisAsyncSetConnectCallback(context) { context, status in
            guard status == REDIS_OK else { return }
            RedisDriver.of(context?.pointee.data) { $0.connected() }
        }
    }

    /// Authenticates, selects the database and asks for a sign of life, on every connection anew.
    private func connected() {
        self.phase = .handshaking
        var commands: [RedisCommand] = []
        if let password = self.configuration.password {
            commands.append(RedisCommand(["AUTH"] + [self.configuration.username].compactMap { $0 } + [password]))
        }
        if self.configuration.database != 0 {
            commands.append(RedisCommand(["SELECT", String(self.configuration.database)]))
        }
        commands.append(RedisCommand(["PING"]))
        let batch = Batch(
            caller: .handshake,
            deadline: .now + self.configuration.connectTimeout,
            commandCount: commands.count,
            byteCount: 0
        )
        self.send(commands, as: batch)
    }

    /// Inside hiredis, so a refusal is only noted here; `leave` ends the connection.
    func handshakeEnded(_ answer: Answer) {
        switch answer {
        case .success:
            self.phase = .ready(since: .now)
            self.cancelConnectTimer()
            self.gate.open()
            self.logger.info("redis connected", metadata: ["redis": "\(self.configuration)"])
        case .failure(let error) where error.code == .refused:
            self.causeOfEnd = RedisError(.misconfigured, "sign-in was answered with \(error.reply ?? "an error")")
        case .failure: break
        }
    }

    // MARK: The end of a connection

    /// Ends the connection for our own reason.
    func giveUp(_ cause: RedisError) {
        guard let context = self.context else { return }
        self.causeOfEnd = self.causeOfEnd ?? cause
        redisAsyncFree(context)
    }

    /// New commands are refused; `leave` ends the connection once everyone has an answer.
    func beginStop() {
        self.isStopping = true
        self.gate.close()
        if case .ready = self.phase { return }
        self.giveUp(RedisError(.unavailable, "stopped"))
    }

    /// The cleanup hook: every command has been answered and the descriptor is about to be closed.
    private func contextEnds() {
        guard let context = self.context else { return }
        self.causeOfEnd = self.causeOfEnd ?? Self.cause(of: context)
        self.context = nil
        self.watched = []
        self.loop.unwatch(context.pointee.c.fd)
    }

    /// Puts everything back to the begin and lets `serve` go on.
    func finish() {
        guard let ended = self.ended else { return }
        self.ended = nil
        self.cancelConnectTimer()
        if let sweep = self.sweep { self.loop.cancel(sweep.timer) }
        self.sweep = nil
        var uptime: Duration?
        if case .ready(let since) = self.phase { uptime = since.duration(to: .now) }
        self.phase = .idle
        let cause = self.causeOfEnd ?? RedisError(.unavailable, "could not connect")
        ended.resume(returning: ConnectionEnd(cause: cause, uptime: uptime))
    }

    private func cancelConnectTimer() {
        if let timer = self.connectTimer { self.loop.cancel(timer) }
        self.connectTimer = nil
    }

    private static func cause(of context: UnsafeMutablePointer<redisAsyncContext>) -> RedisError {
        switch context.pointee.err {
        case REDIS_ERR_EOF: RedisError(.lost, "the server closed the connection")
        case REDIS_ERR_PROTOCOL: RedisError(.lost, "the server does not speak the Redis protocol")
        case REDIS_ERR_IO, REDIS_ERR_OTHER:
            // From the operating system: an errno or a failure to resolve a name.
            RedisError(.lost, context.pointee.errstr.map { String(cString: $0) } ?? "input or output failed")
        default: RedisError(.lost, "the connection ended")
        }
    }
}
