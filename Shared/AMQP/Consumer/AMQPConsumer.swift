import EventLoops
public import Logging

/// Where reading of a stream begins.
public enum AMQPStreamOffset: Sendable, Hashable {
    /// The oldest message that is kept.
    case first
    /// The last chunk that was written; more than one message may come.
    case last
    /// Only what is published from now on.
    case next
    /// The message with this number.
    case offset(UInt64)
    /// The chunk that was written around that time, seconds since 1970. Earlier messages may come first.
    case timestamp(UInt64)

    var argument: AMQPValue {
        switch self {
        case .first: .string("first")
        case .last: .string("last")
        case .next: .string("next")
        case .offset(let number): .int64(Int64(bitPattern: number))
        case .timestamp(let seconds): .timestamp(seconds)
        }
    }
}

/// Consumes one queue or stream over one connection of its own, in batches, strictly in order.
///
/// A batch is what has arrived; the next one is handed over when the last one is settled. After a lost connection
/// everything unsettled comes again, in order, flagged as redelivered: the handler must be idempotent.
public final class AMQPConsumer: Sendable {
    /// Handles one batch, which is never empty, and says what to do with it.
    ///
    /// Runs on Swift's thread pool and not on the connection's thread, so that heartbeats go on meanwhile.
    public typealias Handler = @concurrent @Sendable ([AMQPDelivery]) async -> BatchSettlement

    private let session: ConsumerSession
    private let status: Locked<ConsumerStatus>
    private let stops: AsyncStream<Void>.Continuation
    private let stopRequests: AsyncStream<Void>

    /// Makes a consumer that connects when `run` is called.
    ///
    /// - Parameters:
    ///   - configuration: Where the broker is.
    ///   - queue: The queue or stream. It must exist or be made by `onQueueGone`.
    ///   - prefetch: How many deliveries may be unsettled at a time.
    ///   - maxBatch: How many deliveries a batch may have.
    ///   - offset: Where to begin in a stream, nil for queues. After a lost connection reading goes on behind the last
    ///     acknowledged message.
    ///   - arguments: More arguments for `basic.consume`.
    ///   - loopName: The name of the connection's thread, at most 15 bytes.
    ///   - onQueueGone: Called when the queue was deleted or is not there; may declare it. Then consuming is tried again.
    ///   - logger: Told about connections made and lost.
    public init(
        configuration: AMQPConfiguration,
        queue: String,
        prefetch: UInt16 = 100,
        maxBatch: Int = 100,
        offset: AMQPStreamOffset? = nil,
        arguments: [String: AMQPValue] = [:],
        loopName: String = "amqp-consumer",
        onQueueGone: (@concurrent @Sendable () async -> Void)? = nil,
        logger: Logger
    ) {
        precondition(prefetch > 0 && maxBatch > 0, "a consumer needs room for at least one delivery")
        let status = Locked(ConsumerStatus())
        self.status = status
        (self.stopRequests, self.stops) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.session = ConsumerSession(
            ConsumerOptions(
                configuration: configuration,
                queue: queue,
                prefetch: prefetch,
                maxBatch: maxBatch,
                offset: offset,
                arguments: arguments,
                onQueueGone: onQueueGone
            ),
            threads: LinkThreads(name: loopName, configuration: configuration),
            status: status,
            logger: logger
        )
    }

    /// Whether the consumer is connected and subscribed.
    public var isConsuming: Bool { self.status.withLock { $0.isConsuming } }

    /// Consumes until `stop` or until the task is cancelled, whatever happens to the broker.
    ///
    /// The running batch is always finished and settled first. Call it once.
    ///
    /// - Throws: `AMQPError` only for what no repetition can heal: a configuration without an address.
    public func run(_ handle: Handler) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask {
                // Ends with the first request, and when the task is cancelled.
                for await _ in self.stopRequests { break }
                await self.session.stop()
            }
            try await self.session.run(handle)
            group.cancelAll()
        }
    }

    /// Ends `run` gracefully: the running batch is finished and settled, nothing new is handed over.
    ///
    /// Returns at once.
    public func stop() {
        self.status.withLock { $0.isStopped = true }
        self.stops.yield()
    }
}
