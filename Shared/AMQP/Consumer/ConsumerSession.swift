import EventLoops
import Logging

/// The consumer's side of one connection, on the connection's own thread.
actor ConsumerSession {
    /// What a wait for deliveries ended with.
    private enum Arrival {
        case batch([AMQPDelivery])
        case interrupted
    }

    /// A connection that lasted this long was a good one: the next pause is the shortest again.
    private static let goodConnection: Duration = .seconds(5)
    private static let consumerTag = "transfa"

    private let options: ConsumerOptions
    private let threads: LinkThreads
    private let status: Locked<ConsumerStatus>
    private let logger: Logger
    private var opener: LinkOpener
    private var link: Link?
    private var isConsuming = false
    private var arrived: [AMQPDelivery] = []
    /// Counts the channels, so that a batch is settled only on the one it came from.
    private var channelNumber = 0
    private var isQueueGone = false
    private var resumeOffset: UInt64?
    private var heartbeatTimer: TimerID?
    private var waiter: CheckedContinuation<Void, Never>?

    nonisolated var unownedExecutor: UnownedSerialExecutor { self.threads.loop.asUnownedSerialExecutor() }

    init(_ options: ConsumerOptions, threads: LinkThreads, status: Locked<ConsumerStatus>, logger: Logger) {
        self.options = options
        self.threads = threads
        self.status = status
        var logger = logger
        logger[metadataKey: "queue"] = "\(options.queue)"
        self.logger = logger
        self.opener = LinkOpener(options.configuration, role: "consumer of \(options.queue)", threads.callGuard)
    }

    private var isStopped: Bool { self.status.withLock { $0.isStopped } }

    // MARK: Life

    /// Consumes until `stop`.
    func run(_ handle: AMQPConsumer.Handler) async throws(AMQPError) {
        guard !self.options.configuration.hosts.isEmpty else {
            throw AMQPError(.invalidConfiguration, "no address of the broker")
        }
        await self.threads.watchdog.start()
        var backoff = Backoff(self.options.configuration)
        while !self.isStopped {
            let began = ContinuousClock.now
            self.subscribe()
            if self.isConsuming { await self.handleBatches(handle) }
            guard !self.isStopped else { break }
            if self.isQueueGone {
                self.isQueueGone = false
                await self.options.onQueueGone?()
            }
            if ContinuousClock.now - began > Self.goodConnection { backoff.reset() }
            // Cancellation ends the pause early; `stop` comes with it.
            try? await Task.sleep(for: backoff.pause())
        }
        self.goodbye()
    }

    /// Lets `run` end after the batch that is being handled.
    func stop() {
        self.status.withLock { $0.isStopped = true }
        self.resumeWaiter()
    }

    /// Hands over batch after batch while the subscription lasts.
    ///
    /// The handler runs off this thread, so heartbeats go on.
    private func handleBatches(_ handle: AMQPConsumer.Handler) async {
        while case .batch(let deliveries) = await self.nextBatch() {
            let channelNumber = self.channelNumber
            let settlement = await handle(deliveries)
            guard channelNumber == self.channelNumber, self.isConsuming else { return }
            self.settle(deliveries, settlement)
        }
    }

    private func nextBatch() async -> Arrival {
        while self.arrived.isEmpty {
            guard self.isConsuming, !self.isStopped else { return .interrupted }
            await withCheckedContinuation { self.waiter = $0 }
        }
        guard self.isConsuming, !self.isStopped else { return .interrupted }
        guard self.arrived.count > self.options.maxBatch else {
            defer { self.arrived = [] }
            return .batch(self.arrived)
        }
        defer { self.arrived.removeFirst(self.options.maxBatch) }
        return .batch(Array(self.arrived.prefix(self.options.maxBatch)))
    }

    private func resumeWaiter() {
        self.waiter?.resume()
        self.waiter = nil
    }

    // MARK: Subscription

    /// Connects unless there is a connection, and consumes.
    private func subscribe() {
        do throws(AMQPError) {
            if let link = self.link { return try self.consume(link) }
            try self.consume(self.connect())
        } catch {
            self.failed(error)
        }
    }

    private func connect() throws(AMQPError) -> Link {
        let link = try self.opener.open()
        self.link = link
        self.threads.loop.watch(link.descriptor, for: .read) { [weak self] _ in
            self?.assumeIsolated { $0.readable() }
        }
        self.scheduleHeartbeat(of: link)
        return link
    }

    private func consume(_ link: Link) throws(AMQPError) {
        self.channelNumber += 1
        self.arrived = []
        let arguments = self.options.arguments(resumingAt: self.resumeOffset)
        do throws(AMQPError) {
            try link.consume(
                self.options.queue,
                prefetch: self.options.prefetch,
                tag: Self.consumerTag,
                arguments: arguments
            )
        } catch {
            guard error.code == .channelClosed else { throw error }
            // The connection is good, only the channel is not.
            self.logger.warning("cannot consume", metadata: ["error": "\(error)"])
            self.isQueueGone = error.isNotFound
            try link.confirmChannelClose()
            return try link.openChannel()
        }
        self.setConsuming(true)
        self.logger.info("consuming")
        self.pump()
    }

    /// The subscription ended, or the whole connection when the error is not about the channel.
    private func failed(_ error: AMQPError) {
        self.logger.warning("lost the broker", metadata: ["role": "consumer", "error": "\(error)"])
        self.disconnect()
    }

    private func disconnect() {
        self.endSubscription()
        guard let link = self.link else { return }
        self.link = nil
        self.threads.loop.unwatch(link.descriptor)
        if let timer = self.heartbeatTimer { self.threads.loop.cancel(timer) }
        self.heartbeatTimer = nil
    }

    /// What has arrived and is not handled will come again, on another channel.
    private func endSubscription() {
        self.setConsuming(false)
        self.arrived = []
        self.resumeWaiter()
    }

    private func setConsuming(_ isConsuming: Bool) {
        self.isConsuming = isConsuming
        self.status.withLock { $0.isConsuming = isConsuming }
    }

    /// Closes the channel and the connection.
    ///
    /// The close is answered, so every acknowledgement before it has been read. No `basic.cancel` before it: a quorum queue
    /// would go on with the next consumer at once and put back what is unsettled here only later, behind what comes after.
    private func goodbye() {
        if let link = self.link {
            if self.isConsuming { try? link.closeChannel() }
            link.close()
        }
        self.disconnect()
    }

    // MARK: Settlement

    private func settle(_ deliveries: [AMQPDelivery], _ settlement: BatchSettlement) {
        guard let link = self.link else { return }
        do throws(AMQPError) {
            for index in settlement.rejected { try link.refuse(deliveries[index].tag, requeue: false) }
            for index in settlement.requeued { try link.refuse(deliveries[index].tag, requeue: true) }
            // A tag that was refused is none any more: naming it would cost the channel, and all that is unsettled on it.
            if let last = settlement.lastAcknowledged(of: deliveries.count) {
                try link.acknowledge(upTo: deliveries[last].tag)
            }
            let count = min(settlement.acknowledged, deliveries.count)
            if count > 0, let offset = deliveries[count - 1].streamOffset { self.resumeOffset = offset + 1 }
            if !settlement.covers(deliveries.count) { try self.giveBack(link) }
        } catch {
            self.failed(error)
        }
    }

    /// Closing the channel is the one way to have deliveries again in their order.
    private func giveBack(_ link: Link) throws(AMQPError) {
        self.endSubscription()
        try link.closeChannel()
        try link.openChannel()
    }

    // MARK: Reading

    private func readable() {
        self.link?.lastHeard = .now
        self.pump()
    }

    private func pump() {
        do throws(AMQPError) {
            while let link = self.link, let event = try link.nextEvent() {
                try self.handle(event, link)
                if !link.mayHaveMore { break }
            }
        } catch {
            self.failed(error)
        }
    }

    private func handle(_ event: LinkEvent, _ link: Link) throws(AMQPError) {
        switch event {
        case .delivery(let delivery):
            // Between two subscriptions late deliveries of the old one may still arrive.
            guard self.isConsuming else { return }
            self.arrived.append(delivery)
            self.resumeWaiter()
        case .consumerCancelled:
            self.logger.warning("the queue is gone")
            self.isQueueGone = true
            try self.giveBack(link)
        case .channelClosed(let error):
            self.logger.warning("the broker closed the channel", metadata: ["error": "\(error)"])
            self.isQueueGone = error.isNotFound
            self.endSubscription()
            try link.confirmChannelClose()
            try link.openChannel()
        case .connectionClosed(let error):
            link.confirmConnectionClose()
            throw error
        case .blocked, .unblocked: break
        case .ack, .nack, .returned:
            throw AMQPError(.protocolViolation, "a confirm on a consumer's channel")
        }
    }

    /// Nobody else sends heartbeats: the library does so only inside calls, and an idle consumer makes none.
    private func scheduleHeartbeat(of link: Link) {
        guard link.heartbeat > .zero else { return }
        self.heartbeatTimer = self.threads.loop.schedule(after: link.heartbeat / 2) { [weak self] in
            self?.assumeIsolated { $0.beat() }
        }
    }

    private func beat() {
        guard let link = self.link else { return }
        guard ContinuousClock.now - link.lastHeard <= link.heartbeat * 2 else {
            return self.failed(AMQPError(.heartbeatMissed, "the broker was silent for two heartbeats"))
        }
        self.scheduleHeartbeat(of: link)
        self.pump()
    }
}
