import EventLoops
import Logging

/// The publisher's side of one connection, on the connection's own thread.
actor PublisherSession {
    /// Which message of which call a publish was.
    private struct Entry {
        let request: PublishRequest
        let index: Int

        var message: AMQPMessage { self.request.messages[self.index] }
    }

    /// A connection that lasted this long was a good one: the next pause is the shortest again.
    private static let goodConnection: Duration = .seconds(5)

    private let threads: LinkThreads
    private let configuration: AMQPConfiguration
    private let window: Int
    private let status: Locked<PublisherStatus>
    private let logger: Logger
    private var opener: LinkOpener
    private var link: Link?
    private var ledger = ConfirmLedger<Entry>()
    private var queue = PublishQueue()
    private var isBlocked = false
    private var isStopped = false
    /// Whether the connection was given up for another one, which says nothing against the broker.
    private var isReplaced = false
    private var awaitsWritability = false
    private var heartbeatTimer: TimerID?
    private var connectionEnded: CheckedContinuation<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.threads.loop.asUnownedSerialExecutor() }

    init(
        _ configuration: AMQPConfiguration,
        window: Int,
        threads: LinkThreads,
        status: Locked<PublisherStatus>,
        logger: Logger
    ) {
        self.configuration = configuration
        self.window = window
        self.threads = threads
        self.status = status
        self.logger = logger
        self.opener = LinkOpener(configuration, role: "publisher", threads.callGuard)
    }

    // MARK: Life

    /// Connects, again and again, until `stop`.
    func run() async {
        await self.threads.watchdog.start()
        var backoff = Backoff(self.configuration)
        while !self.isStopped {
            let began = ContinuousClock.now
            do throws(AMQPError) {
                try self.connect()
                await self.untilDisconnected()
            } catch {
                self.logger.warning("no connection to the broker", metadata: ["error": "\(error)"])
            }
            guard !self.isStopped else { return }
            if self.isReplaced || ContinuousClock.now - began > Self.goodConnection { backoff.reset() }
            self.isReplaced = false
            // Cancellation ends the pause early; `stop` comes with it.
            try? await Task.sleep(for: backoff.pause())
        }
    }

    /// Closes the connection and answers everybody who waits.
    ///
    /// Later calls of `publish` are answered at once.
    func stop() {
        guard !self.isStopped else { return }
        self.isStopped = true
        // A blocked broker does not read, so it would not answer a goodbye either.
        if !self.isBlocked { self.link?.close() }
        self.disconnect(AMQPError(.stopped, "the publisher was stopped"))
        for request in self.queue.removeAll() { request.abandon(AMQPError(.stopped, "the publisher was stopped")) }
    }

    /// A connection that ended while it was being made is over already, and nobody would say so again.
    private func untilDisconnected() async {
        guard self.link != nil else { return }
        await withCheckedContinuation { self.connectionEnded = $0 }
    }

    /// Ends the connection, so that `run` makes another.
    func reconnect() {
        guard self.link != nil else { return }
        self.isReplaced = true
        self.disconnect(AMQPError(.connectionClosed, "another connection is wanted"))
    }

    private func connect() throws(AMQPError) {
        let link = try self.opener.open()
        try link.selectConfirms()
        self.link = link
        self.setBlocked(false)
        self.status.withLock { $0.isConnected = true }
        self.threads.loop.watch(link.descriptor, for: .read) { [weak self] ready in
            self?.assumeIsolated { $0.ready(ready) }
        }
        self.awaitsWritability = false
        self.scheduleHeartbeat(of: link)
        self.logger.info("connected to the broker", metadata: ["role": "publisher"])
        self.pump()
    }

    /// Lets the link go; what the broker had not confirmed is lost.
    private func disconnect(_ error: AMQPError) {
        guard let link = self.link else { return }
        self.link = nil
        self.threads.loop.unwatch(link.descriptor)
        if let timer = self.heartbeatTimer { self.threads.loop.cancel(timer) }
        self.heartbeatTimer = nil
        self.status.withLock { $0 = PublisherStatus() }
        self.isBlocked = false
        if error.code != .stopped {
            self.logger.warning("lost the broker", metadata: ["role": "publisher", "error": "\(error)"])
        }
        self.abandonUnconfirmed(error)
        self.connectionEnded?.resume()
        self.connectionEnded = nil
    }

    private func abandonUnconfirmed(_ error: AMQPError) {
        var ledger = ConfirmLedger<Entry>()
        swap(&ledger, &self.ledger)
        for entry in ledger.abandon() { self.answer(entry.request, entry.index, .lost(error)) }
    }

    // MARK: Publishing

    /// Queues the messages and waits for their answers, at most as long as configured.
    func publish(_ messages: [AMQPMessage], stoppingAtFailure: Bool) async -> [PublishOutcome] {
        if let refusal = self.refusal(of: messages.count) {
            return Array(repeating: .lost(refusal), count: messages.count)
        }
        return await withCheckedContinuation { caller in
            let request = PublishRequest(messages, stopsAtFailure: stoppingAtFailure, caller)
            self.queue.append(request)
            let timer = self.threads.loop.schedule(after: self.configuration.publishTimeout) { [weak self] in
                self?.assumeIsolated { $0.expire(request) }
            }
            request.onFinish = { [loop = self.threads.loop] in loop.cancel(timer) }
            self.advance()
        }
    }

    private func refusal(of count: Int) -> AMQPError? {
        if self.isStopped { return AMQPError(.stopped, "the publisher was stopped") }
        guard self.queue.unsentCount + count <= self.configuration.maximumWaiting else {
            return AMQPError(.overloaded, "\(self.queue.unsentCount) messages are waiting")
        }
        return nil
    }

    private func expire(_ request: PublishRequest) {
        guard !request.isFinished else { return }
        self.queue.forget(request)
        let error = AMQPError(.timedOut, "no confirm within \(self.configuration.publishTimeout)")
        let wasSent = request.nextIndex > 0
        request.abandon(error)
        // A broker that says nothing is no longer to be trusted with this connection: RabbitMQ 3.10 stops reading one that
        // has published much to a quorum queue, and when that queue is deleted then, it never begins again.
        if wasSent, !self.isBlocked { self.disconnect(error) }
    }

    /// Sends while there is room in the window and in the socket.
    private func advance() {
        while let link = self.link, !self.isBlocked, self.ledger.openCount < self.window {
            guard let (request, index) = self.queue.first else { return }
            guard link.isWritable else { return self.awaitWritability(of: link) }
            let message = request.messages[index]
            self.queue.removeFirst()
            if let defect = message.defect(headerLimit: link.headerLimit) {
                self.answer(request, index, .lost(defect))
                continue
            }
            // Noted before the call: a publish that fails half-way may still have arrived.
            self.ledger.published(Entry(request: request, index: index))
            do throws(AMQPError) {
                try link.publish(message)
            } catch {
                return self.disconnect(error)
            }
        }
    }

    private func awaitWritability(of link: Link) {
        guard !self.awaitsWritability else { return }
        self.awaitsWritability = true
        self.watch(link, for: [.read, .write])
    }

    private func watch(_ link: Link, for interest: EventLoopThread.Interest) {
        self.threads.loop.watch(link.descriptor, for: interest) { [weak self] ready in
            self?.assumeIsolated { $0.ready(ready) }
        }
    }

    private func answer(_ request: PublishRequest, _ index: Int, _ outcome: PublishOutcome) {
        request.answer(index, outcome)
        guard request.stopsAtFailure, !outcome.isConfirmed, !request.isFinished else { return }
        self.queue.forget(request)
        request.abandon(AMQPError(.stopped, "not waited for, because a message before it failed"))
    }

    // MARK: Reading

    private func ready(_ ready: EventLoopThread.Interest) {
        guard let link = self.link else { return }
        if self.awaitsWritability && ready.contains(.write) {
            self.awaitsWritability = false
            self.watch(link, for: .read)
        }
        if ready.contains(.read) { link.lastHeard = .now }
        self.pump()
    }

    private func pump() {
        do throws(AMQPError) {
            while let link = self.link, let event = try link.nextEvent() {
                try self.handle(event, link)
                if !link.mayHaveMore { break }
            }
        } catch {
            self.disconnect(error)
        }
        self.advance()
    }

    private func handle(_ event: LinkEvent, _ link: Link) throws(AMQPError) {
        switch event {
        case .ack(let tag, let multiple): try self.settle(tag, multiple: multiple, accepted: true)
        case .nack(let tag, let multiple): try self.settle(tag, multiple: multiple, accepted: false)
        case .returned(let message):
            try self.ledger.returned(code: message.code, text: message.text) { entry in
                let sent = entry.message
                return sent.messageID == message.messageID && sent.routingKey == message.routingKey
                    && sent.exchange == message.exchange && sent.mandatory
            }
        case .blocked(let reason):
            self.logger.warning("the broker is blocked", metadata: ["reason": "\(reason)"])
            self.setBlocked(true)
        case .unblocked:
            self.logger.info("the broker is unblocked")
            self.setBlocked(false)
        case .channelClosed(let error): try self.reopenChannel(link, error)
        case .connectionClosed(let error):
            link.confirmConnectionClose()
            throw error
        case .delivery, .consumerCancelled:
            throw AMQPError(.protocolViolation, "a delivery on a publisher's channel")
        }
    }

    private func settle(_ tag: UInt64, multiple: Bool, accepted: Bool) throws(AMQPError) {
        for answer in try self.ledger.answered(tag: tag, multiple: multiple, accepted: accepted) {
            self.answer(answer.entry.request, answer.entry.index, answer.outcome)
        }
    }

    /// The broker drops everything that was sent on a channel after the message that made it close it.
    private func reopenChannel(_ link: Link, _ error: AMQPError) throws(AMQPError) {
        self.logger.warning("the broker closed the channel", metadata: ["error": "\(error)"])
        self.abandonUnconfirmed(error)
        try link.confirmChannelClose()
        try link.openChannel()
        try link.selectConfirms()
    }

    private func setBlocked(_ isBlocked: Bool) {
        self.isBlocked = isBlocked
        self.status.withLock { $0.isBlocked = isBlocked }
    }

    /// Nobody else sends heartbeats: the library does so only inside calls, and an idle publisher makes none.
    private func scheduleHeartbeat(of link: Link) {
        guard link.heartbeat > .zero else { return }
        self.heartbeatTimer = self.threads.loop.schedule(after: link.heartbeat / 2) { [weak self] in
            self?.assumeIsolated { $0.beat() }
        }
    }

    private func beat() {
        guard let link = self.link else { return }
        guard ContinuousClock.now - link.lastHeard <= link.heartbeat * 2 else {
            return self.disconnect(AMQPError(.heartbeatMissed, "the broker was silent for two heartbeats"))
        }
        self.scheduleHeartbeat(of: link)
        self.pump()
    }
}
