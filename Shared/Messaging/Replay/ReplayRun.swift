import Contracts
import Foundation
import Logging
import Postgres
import Primitives

/// Lets events take effect that the inbox does not know; each at most once, whatever comes from the queue meanwhile.
///
/// Unlike a delivery a replay never parks: what fails, or may not be handled now, is told to who replays.
struct ReplayRun: Sendable {
    let handlers: EventHandlers
    let database: EventDatabase
    let order: ReplayOrder
    let logger: Logger

    /// What is known about events before they are handled.
    private struct Knowledge {
        let parkedSubjects: Set<String>
        let waiting: Set<UUID>
        let remembered: Range<Int64>
        var known: Set<UUID>
    }

    /// One batch, all of it or nothing.
    func callAsFunction(_ events: [IncomingEvent]) async throws -> ReplayAnswer {
        let processor = BatchProcessor(handlers: self.handlers, database: self.database, logger: self.logger)
        let cause = Cause(correlationID: self.order.order.request)
        let (answer, records) = try await self.database.transaction(cause: cause) { own in
            if self.order.effects == .off { try await own.stage("SELECT set_config('transfa.effects', 'off', true)") }
            var knowledge = try await Self.knowledge(of: events, own)
            var answer = ReplayAnswer()
            var records: [BatchProcessor.Record] = []
            for event in events {
                if let result = self.obstacle(to: event, knowledge, processor) {
                    answer.results.append(result)
                    continue
                }
                records.append(try await processor.handle(event, own.caused(by: event.cause)))
                knowledge.known.insert(event.attributes.id)
                answer.results.append(ReplayedEvent(event, .applied))
            }
            try await BatchProcessor.insertRecords(records, knowledge.remembered, own)
            if !records.isEmpty {
                let act = Act(events: records.count, effects: self.order.effects.rawValue)
                try await own.record("replay.applied", on: self.order.id.lowercased, after: act, by: self.order.order)
            }
            CrashPoint.reach("before_replay_commit")
            return (answer, records)
        }
        processor.trace(records)
        CrashPoint.reach("after_replay_commit")
        return answer
    }

    /// What the audit says.
    private struct Act: Encodable, Sendable {
        let events: Int
        let effects: String
    }

    private static func knowledge(of events: [IncomingEvent], _ own: EventTransaction) async throws -> Knowledge {
        // The locks come first: what the inbox shows must not be older than they are.
        let parked = try await own.query(BatchProcessor.lockParkedKeys(events))
        let known = try await own.query(BatchProcessor.known(events))
        let waiting = try await own.query("SELECT id FROM parked_events WHERE id = ANY(\(events.map(\.attributes.id)))")
        let days = try await own.query(RememberedDays.statement)
        return Knowledge(
            parkedSubjects: Set(try parked.map { try $0.decode(String.self) }),
            waiting: Set(try waiting.map { try $0.decode(UUID.self) }),
            remembered: try RememberedDays.times(days),
            known: Set(try known.map { try $0.decode(UUID.self) })
        )
    }

    /// Why an event is not handled; nil when it is.
    private func obstacle(
        to event: IncomingEvent,
        _ knowledge: Knowledge,
        _ processor: BatchProcessor
    ) -> ReplayedEvent? {
        let id = event.attributes.id
        guard self.handlers.entries[event.attributes.type] != nil else { return ReplayedEvent(event, .unheard) }
        if knowledge.waiting.contains(id) { return ReplayedEvent(event, .refused, "already_parked") }
        if knowledge.known.contains(id) { return ReplayedEvent(event, .known) }
        if knowledge.parkedSubjects.contains(event.attributes.subject) {
            return ReplayedEvent(event, .refused, "subject_parked")
        }
        return processor.problem(with: event, knowledge.remembered).map { ReplayedEvent(event, .refused, $0.rawValue) }
    }
}
