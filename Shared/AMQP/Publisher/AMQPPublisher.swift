import EventLoops
public import Logging

/// Publishes messages over one connection of its own and says what became of each.
///
/// The connection is kept by `run`, with pauses between attempts. Messages of one call, and of calls made one after
/// the other, leave in order. A message may arrive more than once after `PublishOutcome.lost`, never less than once
/// after `PublishOutcome.confirmed`.
public final class AMQPPublisher: Sendable {
    private let session: PublisherSession
    private let status: Locked<PublisherStatus>

    /// Makes a publisher that connects when `run` is called.
    ///
    /// - Parameters:
    ///   - configuration: Where the broker is.
    ///   - loopName: The name of the connection's thread, at most 15 bytes.
    ///   - window: How many messages may be unconfirmed at a time.
    ///   - logger: Told about connections made and lost.
    public init(
        configuration: AMQPConfiguration,
        loopName: String = "amqp-publisher",
        window: Int = 100,
        logger: Logger
    ) {
        precondition(window > 0, "a publisher needs room for at least one unconfirmed message")
        let status = Locked(PublisherStatus())
        self.status = status
        self.session = PublisherSession(
            configuration,
            window: window,
            threads: LinkThreads(name: loopName, configuration: configuration),
            status: status,
            logger: logger
        )
    }

    /// Whether there is a connection with a channel in confirm mode.
    public var isConnected: Bool { self.status.withLock { $0.isConnected } }

    /// Whether the broker has asked us not to publish, because it is short of memory or disk.
    public var isBlocked: Bool { self.status.withLock { $0.isBlocked } }

    /// Keeps the connection until the task is cancelled, then closes it; open messages are answered with `lost`.
    ///
    /// Call it once.
    public func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                await Cancellation.wait()
                await self.session.stop()
            }
            await self.session.run()
            group.cancelAll()
        }
    }

    /// Publishes messages in order and waits until each has an answer.
    ///
    /// Waits for the connection, for room in the window and while the broker is blocked; whatever has no answer after
    /// `AMQPConfiguration.publishTimeout` is lost. Cancelling the caller does not shorten that.
    ///
    /// With `stoppingAtFailure` nothing more is sent once a message of this call was not confirmed: after a lost
    /// connection the rest would otherwise overtake what was lost. Outcomes that were open then are lost too.
    ///
    /// There is one outcome per message, at the same index.
    public func publish(_ messages: [AMQPMessage], stoppingAtFailure: Bool = false) async -> [PublishOutcome] {
        guard !messages.isEmpty else { return [] }
        return await self.session.publish(messages, stoppingAtFailure: stoppingAtFailure)
    }

    /// Publishes one message and waits for its answer.
    public func publish(_ message: AMQPMessage) async -> PublishOutcome {
        let outcomes = await self.session.publish([message], stoppingAtFailure: false)
        return outcomes[0]
    }

    /// Gives the connection up for another one; what it has not confirmed is answered with `lost`.
    ///
    /// For a broker that goes on rejecting: a channel of RabbitMQ 3.10 learns only once where a quorum queue's leader is.
    public func reconnect() async { await self.session.reconnect() }
}
