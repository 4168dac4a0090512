import AMQP
import Contracts
import Foundation
import Logging
import Metrics
import Postgres
import Primitives

/// Consumes one queue of a service.
///
/// Bytes that are no event, and events that are not their publisher's, are rejected and go to the dead-letter queue. An
/// event whose delivery has come back twice is run alone, so that one that ends the process is found; after three such
/// runs it is parked unrun. An event that the memory knows is acknowledged without a transaction.
struct EventConsumer: Sendable {
    let consumer: AMQPConsumer
    let processor: BatchProcessor
    let database: EventDatabase
    /// Knows without the database what was committed before; without it the inbox alone does.
    var recall: EventRecall?
    let logger: Logger

    private static let aloneFromDeliveryCount = 2
    private static let loneRunsAllowed = 3
    /// How far apart small batches begin; an event that comes alone does not wait.
    ///
    /// What comes meanwhile gathers: a commit for each single event would cost more than the event.
    private static let pace = Duration.milliseconds(40)
    /// From how many events on a batch is not small.
    private static let enough = 50

    func run() async throws {
        try await self.consumer.run { deliveries in
            let next = ContinuousClock.now + Self.pace
            let settlement = await self.settle(deliveries)
            if deliveries.count < Self.enough { try? await Task.sleep(until: next) }
            return settlement
        }
    }

    /// An event, and whether it is run alone if it is run.
    private struct Arrival {
        let event: IncomingEvent
        let isAlone: Bool

        var id: UUID { self.event.attributes.id }
    }

    /// Handles a batch, and says what becomes of its deliveries.
    func settle(_ deliveries: [AMQPDelivery]) async -> BatchSettlement {
        var rejected: [Int] = []
        var arrivals: [Arrival] = []
        for (index, delivery) in deliveries.enumerated() {
            guard let event = IncomingEvent(body: Data(delivery.body)) else {
                self.refuse(delivery, nil, "not an event, rejected")
                rejected.append(index)
                continue
            }
            guard Self.isGenuine(event, delivery) else {
                self.refuse(delivery, event, "not an event of its publisher, rejected")
                rejected.append(index)
                continue
            }
            arrivals.append(Arrival(event: event, isAlone: delivery.deliveryCount >= Self.aloneFromDeliveryCount))
        }
        do {
            if let recall = self.recall {
                try await self.handle(arrivals, recall)
            } else {
                _ = try await self.handle(arrivals)
            }
            return BatchSettlement(acknowledged: deliveries.count, rejected: rejected)
        } catch {
            // Only a stop gets here: whatever was committed is in the inbox, the rest is delivered again.
            return .giveBack
        }
    }

    /// Whether key, kind and source agree: the broker lets a service write the keys of its own kinds alone.
    ///
    /// What is not genuine must not be parked: a stranger could hold up anybody's subject, or use up the id of an event.
    private static func isGenuine(_ event: IncomingEvent, _ delivery: AMQPDelivery) -> Bool {
        // Into a queue itself, past every exchange, writes an administrator of the broker alone.
        let isRouted =
            delivery.exchange.isEmpty
            || delivery.exchange == Topology.exchange
                && Topology.isKey(delivery.routingKey, of: event.attributes.type)
        // A queue that lets messages die may send them on under any key.
        return isRouted && delivery.headers["x-death"] == nil && event.isOfItsPublisher
    }

    /// Says and counts that a delivery is rejected; a kind that nobody knows is not a label.
    private func refuse(_ delivery: AMQPDelivery, _ event: IncomingEvent?, _ message: Logger.Message) {
        self.logger.error(message, metadata: ["routing_key": "\(delivery.routingKey)"])
        let type = event.flatMap { EventCatalogue.definition(of: $0.attributes.type)?.type.rawValue }
        Metrics.Counter(
            label: "messaging_client_consumed_messages",
            dimensions: [("event_type", type ?? "unknown"), ("outcome", "refused")]
        ).increment()
    }

    /// Handles what the memory does not know, and notes it.
    private func handle(_ arrivals: [Arrival], _ recall: EventRecall) async throws {
        let recollection = await recall.recollection(of: arrivals.map(\.id))
        // However often it was delivered: what is committed did not end the process.
        let unknown = arrivals.filter { !recollection.known.contains($0.id) }
        let new = try await self.handle(unknown)
        await recall.note(unknown.map(\.id), new: new, after: recollection)
    }

    /// Handles events in order; all of them are in the inbox afterwards, or wait parked.
    ///
    /// - Returns: How many were new.
    private func handle(_ arrivals: [Arrival]) async throws -> Int {
        var new = 0
        var batch: [IncomingEvent] = []
        for arrival in arrivals {
            guard arrival.isAlone else {
                batch.append(arrival.event)
                continue
            }
            new += try await self.processor.process(batch)
            batch.removeAll()
            new += try await self.runAlone(arrival.event)
        }
        new += try await self.processor.process(batch)
        return new
    }

    /// How many events were new: one, or none.
    private func runAlone(_ event: IncomingEvent) async throws -> Int {
        let id = event.attributes.id
        guard let runs = try await self.countRun(of: id) else { return 0 }
        let new =
            if runs > Self.loneRunsAllowed {
                try await self.processor.park(event, reason: EventProblem.crashed.rawValue)
            } else {
                try await self.processor.process([event])
            }
        try? await self.database.client.withTransaction { sql in
            _ = try await sql.execute("DELETE FROM lone_runs WHERE id = \(id)")
        }
        return new
    }

    /// Commits that the event is about to be run; nil when the inbox has it already.
    private func countRun(of id: UUID) async throws -> Int? {
        var backoff = Backoff()
        while true {
            do {
                return try await self.database.client.withTransaction { sql in
                    let rows = try await sql.query(
                        """
                        INSERT INTO lone_runs AS l (id, runs)
                        SELECT \(id), 1
                        WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE day = uuid_v7_day(\(id)) AND id = \(id))
                        ON CONFLICT (id) DO UPDATE SET runs = l.runs + 1
                        RETURNING runs
                        """
                    )
                    return try rows.first.map { Int(try $0.decode(Int32.self)) }
                }
            } catch {
                try Task.checkCancellation()
                try await Task.sleep(for: backoff.next())
            }
        }
    }
}
