import AMQP
import Contracts
import Foundation
import Logging
import Postgres
import Primitives

/// Consumes one queue of a service.
///
/// Bytes that are no event are rejected and go to the dead-letter queue. An event whose delivery has come back twice is
/// run alone, so that one that ends the process is found; after three such runs it is parked unrun.
struct EventConsumer: Sendable {
    let consumer: AMQPConsumer
    let processor: BatchProcessor
    let database: EventDatabase
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

    private func settle(_ deliveries: [AMQPDelivery]) async -> BatchSettlement {
        var rejected: [Int] = []
        var batch: [IncomingEvent] = []
        do {
            for (index, delivery) in deliveries.enumerated() {
                guard let event = IncomingEvent(body: Data(delivery.body)) else {
                    self.logger.error("not an event, rejected", metadata: ["routing_key": "\(delivery.routingKey)"])
                    rejected.append(index)
                    continue
                }
                guard delivery.deliveryCount >= Self.aloneFromDeliveryCount else {
                    batch.append(event)
                    continue
                }
                try await self.processor.process(batch)
                batch.removeAll()
                try await self.runAlone(event)
            }
            try await self.processor.process(batch)
            return BatchSettlement(acknowledged: deliveries.count, rejected: rejected)
        } catch {
            // Only a stop gets here: whatever was committed is in the inbox, the rest is delivered again.
            return .giveBack
        }
    }

    private func runAlone(_ event: IncomingEvent) async throws {
        let id = event.attributes.id
        guard let runs = try await self.countRun(of: id) else { return }
        if runs > Self.loneRunsAllowed {
            try await self.processor.park(event, reason: EventProblem.crashed.rawValue)
        } else {
            try await self.processor.process([event])
        }
        try? await self.database.client.withTransaction { sql in
            _ = try await sql.execute("DELETE FROM lone_runs WHERE id = \(id)")
        }
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
