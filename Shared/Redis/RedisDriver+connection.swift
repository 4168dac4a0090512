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
                let end = await self.connectOnce()
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

    /// Finds the server, tries its addresses one after the other, and gives the end of the connection.
    private func connectOnce() async -> ConnectionEnd {
        let deadline = ContinuousClock.now + self.configuration.connectTimeout
        let places: [Place]
        switch await self.find(until: deadline) {
        case .success(let found): places = found
        case .failure(let cause): return ConnectionEnd(cause: cause, uptime: nil)
        }
        var end = ConnectionEnd(cause: RedisError(.unavailable, "the server has no address"), uptime: nil)
        for place in places where end.uptime == nil && !self.gate.isStopping && ContinuousClock.now < deadline {
            end = await withCheckedContinuation { continuation in
                self.ended = continuation
                self.open(place, until: deadline)
            }
        }
        return end
    }

    // MARK: Finding

    /// The server's addresses; a resolver that hangs is left alone on its thread.
    private func find(until deadline: ContinuousClock.Instant) async -> Result<[Place], RedisError> {
        let search = Whereabouts(configuration: self.configuration, tls: self.tls, deadline: deadline)
        self.phase = .finding
        defer { self.phase = .idle }
        return await withCheckedContinuation { continuation in
            self.found = continuation
            let timer = self.loop.schedule(after: ContinuousClock.now.duration(to: deadline)) { [unowned self] in
                self.assumeIsolated {
                    $0.foundOut(.failure(RedisError(.unavailable, "finding the server took too long")))
                }
            }
            self.connectTimer = timer
            SideThread.start(name: "redis-find") { [loop = self.loop] in
                let result = Result { () throws(RedisError) in try search.find() }
                loop.submit { self.assumeIsolated { $0.foundOut(result, timer) } }
            }
        }
    }

    /// The first to know ends the search; what comes later is of a search that is over.
    private func foundOut(_ result: Result<[Place], RedisError>, _ timer: TimerID? = nil) {
        guard let found = self.found, timer == nil || timer == self.connectTimer else { return }
        self.found = nil
        self.cancelConnectTimer()
        found.resume(returning: result)
    }

    // MARK: Connecting

    private func open(_ place: Place, until deadline: ContinuousClock.Instant) {
        self.phase = .connecting
        self.causeOfEnd = nil
        guard !self.gate.isStopping else { return self.leave() }
        do throws(RedisError) {
            self.wire = try RedisWire(to: place, tls: self.tls)
        } catch {
            self.causeOfEnd = error
            return self.leave()
        }
        self.connectTimer = self.loop.schedule(after: ContinuousClock.now.duration(to: deadline)) { [unowned self] in
            self.assumeIsolated { driver in
                driver.connectTimer = nil
                driver.endConnection(RedisError(.unavailable, "connecting took too long"))
                driver.leave()
            }
        }
        self.leave()
    }

    /// Authenticates, selects the database and asks for a sign of life, on every connection anew.
    func connected() {
        self.phase = .handshaking
        var commands = self.configuration.signIn
        if self.configuration.database != 0 {
            commands.append(RedisCommand("SELECT", .number(Int64(self.configuration.database))))
        }
        if case .sentinels = self.configuration.discovery {
            // A Sentinel may be behind the times: writes on a replica would be lost.
            commands.append(RedisCommand("ROLE"))
        }
        commands.append(RedisCommand("PING"))
        let batch = Batch(
            caller: .handshake,
            deadline: .now + self.configuration.connectTimeout,
            commandCount: commands.count,
            byteCount: 0
        )
        self.send(commands.flatMap { $0.encoded(prefix: []) }, as: batch)
    }

    /// A refusal is only noted here; `leave` ends the connection.
    func handshakeEnded(_ answer: Answer) {
        switch answer {
        case .success(let replies):
            if let role = replies.lazy.compactMap(\.elements?.first?.text).first, role != "master" {
                self.causeOfEnd = RedisError(.readOnly, "a Sentinel led to a server that is no master")
                return
            }
            self.phase = .ready(since: .now)
            self.cancelConnectTimer()
            self.gate.open()
            self.logger.info("redis connected", metadata: ["redis": "\(self.configuration)"])
        case .failure(let error) where error.reply != nil:
            let code = error.code == .loading ? error.code : .misconfigured
            self.causeOfEnd = RedisError(code, "sign-in was answered with \(error.reply ?? "an error")")
        case .failure: break
        }
    }

    // MARK: The end of a connection

    /// Ends the connection; nobody waits any longer.
    func endConnection(_ cause: RedisError) {
        guard let wire = self.wire else { return }
        self.causeOfEnd = self.causeOfEnd ?? cause
        self.wire = nil
        if !self.watched.isEmpty { self.loop.unwatch(wire.descriptor) }
        self.watched = []
        while !self.pending.isEmpty { self.receive(nil) }
    }

    /// New commands are refused; `leave` ends the connection once everyone has an answer.
    func beginStop() {
        self.isStopping = true
        self.gate.close()
        self.foundOut(.failure(RedisError(.unavailable, "stopped")))
        if case .ready = self.phase { return }
        self.endConnection(RedisError(.unavailable, "stopped"))
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
        self.causeOfEnd = nil
        ended.resume(returning: ConnectionEnd(cause: cause, uptime: uptime))
    }

    private func cancelConnectTimer() {
        if let timer = self.connectTimer { self.loop.cancel(timer) }
        self.connectTimer = nil
    }
}
