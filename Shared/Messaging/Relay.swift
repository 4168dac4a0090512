import AMQP
import Contracts
import Foundation
import Logging
import Metrics
import Postgres
import Primitives

/// Publishes what the outbox holds, in order, with confirms.
///
/// One replica of a service relays at a time.
///
/// A row is marked sent only after the broker has confirmed it, so a crash in between publishes it twice and the
/// consumers' inboxes drop the second. While the broker is away rows wait; nothing is counted as a failure of theirs.
struct Relay: Sendable {
    let service: ServiceName
    let database: EventDatabase
    let publisher: AMQPPublisher
    let guardian: TopologyGuardian
    let committed: WakeSignal
    let logger: Logger

    private static let batch: Int64 = 500
    private static let poll = Duration.milliseconds(250)
    /// How far apart reads begin that bring fewer than they may; an event that comes alone does not wait.
    ///
    /// What comes meanwhile gathers: a read, a round of confirms and a commit for each single event would cost more than
    /// all else.
    private static let pace = Duration.milliseconds(30)
    private static let election = Duration.seconds(1)

    /// Runs until cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                // A connection of its own: with it ends the lock, however this ends.
                try await self.database.client.withSession { connection in
                    try await self.awaitElection(connection)
                    self.logger.info("this replica relays")
                    defer { self.logger.info("this replica no longer relays") }
                    try await self.lead(connection)
                }
            } catch {
                if Task.isCancelled { return }
                self.logger.warning("relay interrupted", metadata: ["error": "\(BatchProcessor.code(of: error))"])
            }
            try? await Task.sleep(for: Self.election)
        }
    }

    private func awaitElection(_ connection: PostgresConnection) async throws {
        while true {
            let locked = try await connection.query("SELECT pg_try_advisory_lock(hashtextextended('relay', 0))")
            if try locked.first?.decode(Bool.self) == true { return }
            try await Task.sleep(for: Self.election)
        }
    }

    private func lead(_ connection: PostgresConnection) async throws {
        var backoff = Backoff()
        while !Task.isCancelled {
            let seen = self.committed.generation
            guard let topology = await self.guardian.breaksWhenWhole else {
                await self.committed.wait(after: seen, upTo: Self.poll)
                continue
            }
            let next = ContinuousClock.now + Self.pace
            let rows = try await self.unsent(connection)
            guard !rows.isEmpty else {
                await self.committed.wait(after: seen, upTo: Self.poll)
                continue
            }
            if try await self.publish(rows, connection, topology) {
                backoff.reset()
                if rows.count < Int(Self.batch) { try await Task.sleep(until: next) }
            } else {
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    private func unsent(_ connection: PostgresConnection) async throws -> [OutboxRow] {
        try await connection.query(
            """
            SELECT day::text, id, type, version, subject, sequence, correlation_id, causation_id, traceparent,
                happened_at, data
            FROM unsent_events(\(Self.batch))
            """
        ).map { try OutboxRow($0, of: self.service) }
    }

    /// Whether all rows were confirmed.
    ///
    /// `topology` counts how often the broker's objects had been incomplete before. If that changed meanwhile, a queue may
    /// have been missing when its event was confirmed, and nothing is marked.
    private func publish(_ rows: [OutboxRow], _ connection: PostgresConnection, _ topology: Int) async throws -> Bool {
        let outcomes = await self.publisher.publish(try rows.map(Self.message), stoppingAtFailure: true)
        CrashPoint.reach("after_publish_before_mark")
        // A channel of RabbitMQ 3.10 that first publishes to a quorum queue just after its leader died goes on being
        // rejected until that node is back.
        if outcomes.contains(where: \.isRejected) { await self.publisher.reconnect() }
        guard await self.guardian.beginMark(since: topology) else { return false }
        var sent: [String: [UUID]] = [:]
        var kinds: [String: Int] = [:]
        var unconfirmed = 0
        for (row, outcome) in zip(rows, outcomes) {
            if outcome.isConfirmed {
                sent[row.day, default: []].append(row.attributes.id)
                kinds[row.attributes.type.rawValue, default: 0] += 1
            } else {
                unconfirmed += 1
            }
        }
        do {
            for (day, ids) in sent {
                _ = try await connection.query("SELECT mark_sent(\(day)::text::date, \(ids))")
            }
            await self.guardian.endMark()
        } catch {
            await self.guardian.endMark()
            throw error
        }
        for (kind, count) in kinds {
            Metrics.Counter(label: "messaging_client_sent_messages", dimensions: [("event_type", kind)])
                .increment(by: count)
        }
        if unconfirmed > 0 {
            // The publisher of a service that stops waits for no confirm: nobody's fault.
            let level: Logger.Level = Task.isCancelled ? .info : .warning
            self.logger.log(level: level, "events not confirmed, kept for later", metadata: ["count": "\(unconfirmed)"])
            await self.guardian.suspect()
        }
        return unconfirmed == 0
    }

    private static func message(_ row: OutboxRow) throws -> AMQPMessage {
        let attributes = row.attributes
        return AMQPMessage(
            exchange: Topology.exchange,
            routingKey: Topology.routingKey(type: attributes.type, subject: attributes.subject),
            body: Array(try row.envelope()),
            messageID: attributes.id.lowercased,
            type: attributes.type.rawValue,
            timestamp: UInt64(max(0, row.time.timeIntervalSince1970)),
            contentType: EventEnvelope.contentType,
            headers: EventHeaders.fields(attributes)
        )
    }
}
