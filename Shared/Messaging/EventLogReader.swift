public import AMQP
public import Logging

/// A message of the event log.
public struct EventLogEntry: Sendable {
    /// Its place in the log.
    public let offset: UInt64
    /// Whether it is the first one of a subscription: what came before it may belong to another log.
    public let isFirst: Bool
    /// What it was published with.
    public let routingKey: String
    /// Its bytes.
    public let body: [UInt8]

    /// Puts an entry together; for tests.
    public init(offset: UInt64, isFirst: Bool, routingKey: String, body: [UInt8]) {
        self.offset = offset
        self.isFirst = isFirst
        self.routingKey = routingKey
        self.body = body
    }
}

/// Reads the event log, the stream that has a copy of every event.
///
/// The broker keeps no place for a reader of a stream: who reads keeps it, best in the transaction of what it does with
/// the entries.
public struct EventLogReader: Sendable {
    /// Where reading begins.
    public enum Start: Sendable, Hashable {
        /// With the oldest entry that is kept.
        case first
        /// With this entry; with the oldest one behind it when it is gone, and at the end when there is none.
        case offset(UInt64)
    }

    /// What follows a batch.
    public enum Verdict: Sendable {
        /// The next one.
        case next
        /// The same one, after a pause.
        case again
        /// Nothing: `run` returns.
        case end
    }

    private let configuration: AMQPConfiguration
    private let logger: Logger
    private let name: String

    /// Entries that may be under way; as many as two batches, so that one arrives while one is handled.
    private static let prefetch: UInt16 = 2000
    /// The most entries of a batch.
    public static let maximumBatch = 1000
    private static let look = Duration.seconds(1)

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - configuration: Where the broker is.
    ///   - name: The name of its thread, at most 15 bytes.
    ///   - logger: Told about connections made and lost.
    public init(configuration: AMQPConfiguration, name: String, logger: Logger) {
        self.configuration = configuration
        self.name = name
        self.logger = logger
    }

    /// Hands over batches in order until one is answered with `end` or the task is cancelled; the running batch is
    /// finished first.
    ///
    /// After a lost connection reading goes on behind the last batch that was handled.
    ///
    /// - Throws: `AMQPError` while the broker cannot be reached at the start, and `CancellationError`.
    public func run(
        from start: Start,
        _ handle: @concurrent @escaping @Sendable ([EventLogEntry]) async -> Verdict
    ) async throws {
        try await self.untilDeclared()
        let consumer = AMQPConsumer(
            configuration: self.configuration,
            queue: Topology.eventLog,
            prefetch: Self.prefetch,
            maxBatch: Self.maximumBatch,
            offset: start.position,
            loopName: self.name,
            logger: self.logger
        )
        try await consumer.run { deliveries in
            switch await handle(deliveries.map(EventLogEntry.init)) {
            case .next: return .acknowledgeAll
            case .again: return .giveBack
            case .end:
                consumer.stop()
                return .acknowledgeAll
            }
        }
    }

    /// Before the first service has declared it there is no stream, and to ask for it would cost the consumer its
    /// channel each time.
    private func untilDeclared() async throws {
        try await AMQPAdmin.withConnection(self.configuration, logger: self.logger) { admin in
            while try await !Self.isThere(admin) { try await Task.sleep(for: Self.look) }
        }
    }

    private static func isThere(_ admin: AMQPAdmin) async throws -> Bool {
        do {
            _ = try await admin.passiveDeclare(Topology.eventLog)
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }
}

extension EventLogReader.Start {
    fileprivate var position: AMQPStreamOffset {
        switch self {
        case .first: .first
        case .offset(let number): .offset(number)
        }
    }
}

extension EventLogEntry {
    fileprivate init(_ delivery: AMQPDelivery) {
        self.init(
            offset: delivery.streamOffset ?? 0,
            // The broker numbers the deliveries of each channel from 1.
            isFirst: delivery.tag == 1,
            routingKey: delivery.routingKey,
            body: delivery.body
        )
    }
}
