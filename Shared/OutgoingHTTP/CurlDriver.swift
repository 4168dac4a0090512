import CCurl
import EventLoops
import Glibc

/// Owns the multi handle of libcurl. Everything here runs on one loop thread.
actor CurlDriver {
    private static let globalInit: Void = { _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) }()
    private static let sparesKept = 64
    private static let connectionsKept = 64
    /// For how long a peer may acknowledge nothing of what was sent to it.
    private static let longestSilence: UInt32 = 20_000
    /// For how many seconds the address of a name is remembered: calls that begin at once look it up once.
    private static let longestName = 1

    nonisolated let loop: EventLoopThread
    private let configuration: HTTPClient.Configuration
    private let multi: CurlHandle
    /// Handles that wait to be used again; connections are not theirs but the multi handle's.
    private var spares: [CurlHandle] = []
    private var running: [CurlHandle: Transfer] = [:]
    private var queues: HostQueues
    /// Sockets of connections; libcurl has others too, to wait for the threads that look names up.
    private var connections: Set<CInt> = []
    /// What the loop watches sockets for.
    private var watched: [CInt: EventLoopThread.Interest] = [:]
    /// Sockets that libcurl no longer waits for: of connections that are kept, or closed already.
    private var loose: Set<CInt> = []
    /// Since when nobody uses a connection that is kept.
    private var idle: [CInt: ContinuousClock.Instant] = [:]
    private var idleTimer: TimerID?
    /// When libcurl wants to be called although nothing is ready; nil is never.
    private var wanted: ContinuousClock.Instant?
    private var timer: (id: TimerID, at: ContinuousClock.Instant)?
    private var isStopped = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.loop.asUnownedSerialExecutor() }

    init(loop: EventLoopThread, configuration: HTTPClient.Configuration) {
        _ = Self.globalInit
        self.loop = loop
        self.configuration = configuration
        self.queues = HostQueues(callsAtOnce: max(1, configuration.callsAtOnce))
        guard let multi = curl_multi_init() else { preconditionFailure("no memory for libcurl") }
        self.multi = multi
        let context = Unmanaged.passUnretained(self).toOpaque()
        transfa_multi_pointer(multi, CURLMOPT_SOCKETDATA, context)
        transfa_multi_pointer(multi, CURLMOPT_TIMERDATA, context)
        transfa_multi_long(multi, CURLMOPT_MAXCONNECTS, max(Self.connectionsKept, configuration.callsAtOnce))
        transfa_multi_long(multi, CURLMOPT_PIPELINING, configuration.speaksHTTP2 ? Int(CURLPIPE_MULTIPLEX) : 0)
        transfa_on_wait(multi) { _, socket, what, context, _ in
            CurlDriver.of(context) { $0.watch(socket, what) }
            return 0
        }
        transfa_on_timer(multi) { _, milliseconds, context in
            CurlDriver.of(context) { $0.wanted = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds) }
            return 0
        }
    }

    // MARK: Events: each enters here and leaves through `leave`

    func begin(_ transfer: Transfer, _ handover: Handover<CallOutcome>) {
        transfer.handover = handover
        if transfer.isFinished || self.isStopped { return self.give(transfer, .failure(transfer.failure(.cancelled))) }
        let left = ContinuousClock.now.duration(to: transfer.deadline)
        guard left > .zero else { return self.give(transfer, .failure(transfer.failure(.timedOut))) }
        transfer.timer = self.loop.schedule(after: left) { [unowned self] in
            self.assumeIsolated { $0.stop(transfer, .timedOut) }
        }
        if self.queues.enter(transfer) { self.start(transfer) }
        self.leave()
    }

    func cancel(_ transfer: Transfer) {
        // Not begun yet: `begin` sees it.
        guard transfer.handover != nil else {
            transfer.isFinished = true
            return
        }
        self.stop(transfer, .cancelled)
    }

    private func stop(_ transfer: Transfer, _ reason: HTTPFailure.Reason) {
        guard !transfer.isFinished else { return }
        self.finish(transfer, .failure(transfer.failure(reason)))
        self.leave()
    }

    private func ready(_ socket: CInt, _ interest: EventLoopThread.Interest) {
        // Nothing is due on a connection that nobody uses: it was ended, or its peer does not speak HTTP.
        if self.idle[socket] != nil {
            return self.configuration.speaksHTTP2 ? self.unwatch(socket) : self.end(socket)
        }
        var bits: CInt = 0
        if interest.contains(.read) { bits |= CURL_CSELECT_IN }
        if interest.contains(.write) { bits |= CURL_CSELECT_OUT }
        var left: CInt = 0
        curl_multi_socket_action(self.multi, socket, bits, &left)
        self.leave()
    }

    /// Calls libcurl for what is due, then tells the callers, then sets the timer.
    private func leave() {
        guard !self.isStopped else { return }
        repeat {
            while let due = self.wanted, due <= .now {
                self.wanted = nil
                var left: CInt = 0
                curl_multi_socket_action(self.multi, CURL_SOCKET_TIMEOUT, 0, &left)
            }
        } while self.collect()
        for socket in self.loose { self.unwatch(socket) }
        self.loose.removeAll(keepingCapacity: true)
        self.setTimer()
    }

    /// Takes what has ended; true when something else was begun.
    private func collect() -> Bool {
        var (queued, hasBegun) = (0 as CInt, false)
        while let message = curl_multi_info_read(self.multi, &queued) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = self.running[easy]
            else { continue }
            let outcome = transfer.outcome(transfa_result(message))
            self.rest(transfa_kept_socket(easy))
            if self.finish(transfer, outcome) { hasBegun = true }
        }
        return hasBegun
    }

    /// A timer that fires too early costs less than moving it with each call.
    private func setTimer() {
        guard let wanted else { return }
        if let timer {
            guard wanted < timer.at else { return }
            self.loop.cancel(timer.id)
        }
        let id = self.loop.schedule(after: ContinuousClock.now.duration(to: wanted)) { [unowned self] in
            self.assumeIsolated {
                $0.timer = nil
                $0.leave()
            }
        }
        self.timer = (id, wanted)
    }

    // MARK: Calls

    private func start(_ transfer: Transfer) {
        self.endDeadConnections()
        let easy = self.spares.popLast() ?? self.makeHandle()
        self.running[easy] = transfer
        guard transfer.prepare(easy) else {
            self.finish(transfer, .failure(transfer.failure(.malformed)))
            return
        }
        guard curl_multi_add_handle(self.multi, easy) == CURLM_OK else {
            preconditionFailure("libcurl refuses a handle")
        }
    }

    /// Ends a call; true when another one was begun in its place.
    @discardableResult
    private func finish(_ transfer: Transfer, _ outcome: CallOutcome) -> Bool {
        let easy = transfer.easy
        if let easy {
            self.running[easy] = nil
            curl_multi_remove_handle(self.multi, easy)
            transfer.letGo(easy)
            // What was set for a head alone cannot be taken back one by one.
            if transfer.call.method == .head || self.spares.count >= Self.sparesKept || self.isStopped {
                curl_easy_cleanup(easy)
            } else {
                self.spares.append(easy)
            }
        }
        self.give(transfer, outcome)
        guard easy != nil, !self.isStopped, let next = self.queues.leave(transfer.host) else { return false }
        self.start(next)
        return true
    }

    private func give(_ transfer: Transfer, _ outcome: CallOutcome) {
        transfer.isFinished = true
        if let timer = transfer.timer { self.loop.cancel(timer) }
        transfer.handover?.give(outcome)
    }

    // MARK: The end

    func shutdown() {
        guard !self.isStopped else { return }
        self.isStopped = true
        for transfer in Array(self.running.values) + self.queues.waiting where !transfer.isFinished {
            self.finish(transfer, .failure(transfer.failure(.cancelled)))
        }
        for easy in self.spares { curl_easy_cleanup(easy) }
        self.spares = []
        // Closes the kept connections, and calls `closing` for each.
        curl_multi_cleanup(self.multi)
        for timer in [self.timer?.id, self.idleTimer] { if let timer { self.loop.cancel(timer) } }
        self.loop.stop()
    }

    /// `shutdown` for somebody who does not wait.
    nonisolated func end() {
        self.loop.submit { self.assumeIsolated { $0.shutdown() } }
    }

    // MARK: Connections

    /// What libcurl waits for on a socket; it lets go of a connection after each call, and the loop keeps it for the next.
    private func watch(_ socket: CInt, _ what: CInt) {
        if what == CURL_POLL_REMOVE {
            // One that never stood is closed already, so that the number may be somebody else's: nothing is done to it here.
            if self.connections.contains(socket) { self.loose.insert(socket) } else { self.unwatch(socket) }
            return
        }
        // The number of one that was closed without a word may be another's by now, which the loop does not watch yet.
        if self.loose.remove(socket) != nil { self.unwatch(socket) }
        self.idle[socket] = nil
        var interest: EventLoopThread.Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.read) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
        self.wait(socket, for: interest)
    }

    private func wait(_ socket: CInt, for interest: EventLoopThread.Interest) {
        self.watched[socket] = interest
        self.loop.watch(socket, for: interest) { [unowned self] ready in
            self.assumeIsolated { $0.ready(socket, ready) }
        }
    }

    private func unwatch(_ socket: CInt) {
        self.watched[socket] = nil
        self.loop.unwatch(socket)
    }

    /// A connection that a call has left open, unless another call goes on over it.
    private func rest(_ socket: CInt) {
        guard self.loose.remove(socket) != nil else { return }
        self.idle[socket] = .now
        if self.watched[socket] != .read { self.wait(socket, for: .read) }
        guard self.idleTimer == nil, !self.isStopped else { return }
        self.setIdleTimer(after: self.configuration.idleTime)
    }

    private func setIdleTimer(after delay: Duration) {
        self.idleTimer = self.loop.schedule(after: delay) { [unowned self] in
            self.assumeIsolated { $0.endIdle() }
        }
    }

    private func endIdle() {
        self.idleTimer = nil
        let oldest = ContinuousClock.now - self.configuration.idleTime
        for (socket, since) in self.idle where since <= oldest { self.end(socket) }
        guard let next = self.idle.values.min() else { return }
        self.setIdleTimer(after: max(.milliseconds(10), oldest.duration(to: next)))
    }

    /// Ends a connection that nobody uses; libcurl closes it when it comes across it.
    private func end(_ socket: CInt) {
        self.idle[socket] = nil
        self.unwatch(socket)
        transfa_end_connection(socket)
    }

    /// A connection that its peer has ended may not carry a request, which would be lost.
    ///
    /// libcurl looks at one byte of it, and over TLS there is one: the notice of the end.
    private func endDeadConnections() {
        guard !self.idle.isEmpty, !self.configuration.speaksHTTP2 else { return }
        var looked = self.idle.keys.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        guard poll(&looked, nfds_t(looked.count), 0) > 0 else { return }
        for one in looked where one.revents != 0 { self.end(one.fd) }
    }

    private func opened(_ socket: CInt) {
        // Of an earlier one with the same number, if libcurl did not tell of its end.
        self.forget(socket)
        self.connections.insert(socket)
        transfa_bound_silence(socket, Self.longestSilence)
    }

    private func forget(_ socket: CInt) {
        self.connections.remove(socket)
        self.loose.remove(socket)
        self.idle[socket] = nil
        self.unwatch(socket)
    }

    private func closing(_ socket: CInt) {
        self.forget(socket)
        close(socket)
    }

    // MARK: libcurl

    private func makeHandle() -> CurlHandle {
        guard let easy = curl_easy_init() else { preconditionFailure("no memory for libcurl") }
        self.setConnection(easy)
        self.setTLS(easy)
        self.setCallbacks(easy)
        return easy
    }

    private func setConnection(_ easy: CurlHandle) {
        transfa_set_long(easy, CURLOPT_NOSIGNAL, 1)
        // Looking a name up blocks a thread; a call that ends before does not wait for it.
        transfa_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        // Not even that of the environment.
        transfa_set_text(easy, CURLOPT_PROXY, "")
        transfa_set_text(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        transfa_set_long(
            easy,
            CURLOPT_CONNECTTIMEOUT_MS,
            max(1, Int(self.configuration.connectTimeout / .milliseconds(1)))
        )
        transfa_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        // A peer that is replaced may have another address, and another peer its old one.
        transfa_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, Self.longestName)
        // Ended here when their time is over; libcurl itself would use none that is older than two minutes.
        transfa_set_long(easy, CURLOPT_MAXAGE_CONN, Int(self.configuration.idleTime / .seconds(1)) + 1)
        // What is signed is the path as it is.
        transfa_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        let version = self.configuration.speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        transfa_set_long(easy, CURLOPT_HTTP_VERSION, Int(version))
        transfa_set_long(easy, CURLOPT_PIPEWAIT, self.configuration.speaksHTTP2 ? 1 : 0)
    }

    private func setTLS(_ easy: CurlHandle) {
        // With a folder, as Debian sets, all certificates are read anew for each connection.
        transfa_set_text(easy, CURLOPT_CAPATH, nil)
        if let file = self.configuration.trustedCertificates { transfa_set_text(easy, CURLOPT_CAINFO, file) }
        transfa_set_long(easy, CURLOPT_CA_CACHE_TIMEOUT, Int(self.configuration.trustedCertificatesAge / .seconds(1)))
        // A session that is resumed is not verified again: an authority that is trusted no longer would still be.
        transfa_set_long(easy, CURLOPT_SSL_SESSIONID_CACHE, 0)
    }

    private func setCallbacks(_ easy: CurlHandle) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        transfa_set_pointer(easy, CURLOPT_SOCKOPTDATA, context)
        transfa_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, context)
        transfa_on_open(easy) { context, socket, _ in
            CurlDriver.of(context) { $0.opened(socket) }
            return CInt(CURL_SOCKOPT_OK)
        }
        transfa_on_close(easy) { context, socket in
            CurlDriver.of(context) { $0.closing(socket) }
            return 0
        }
        transfa_before_sending(easy) { context, _, _, _, _ in Transfer.of(context).beforeSending() }
        transfa_on_head(easy) { bytes, _, count, context in
            Transfer.of(context).takeHead(UnsafeRawBufferPointer(start: bytes, count: count))
        }
        transfa_on_body(easy) { bytes, _, count, context in
            Transfer.of(context).takeBody(UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    // Valid: libcurl calls back only from within calls of its own, on the loop's thread, which `assumeIsolated` checks.
    private static func of(_ raw: UnsafeMutableRawPointer?, _ body: (isolated CurlDriver) -> Void) {
        guard let raw else { preconditionFailure("a multi handle of libcurl without its driver") }
        Unmanaged<CurlDriver>.fromOpaque(raw).takeUnretainedValue().assumeIsolated(body)
    }
}
