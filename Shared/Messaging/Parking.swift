import Contracts
import EventLoops
import Foundation
import Logging
import Postgres
import Primitives

/// Retries parked events of one subject, in order, at most once per decision.
struct Parking: Sendable {
    let handlers: EventHandlers
    let database: EventDatabase
    let logger: Logger

    private var processor: BatchProcessor {
        BatchProcessor(handlers: self.handlers, database: self.database, logger: self.logger)
    }

    /// How often a retry is repeated that failed through no fault of the event.
    private static let repeats = 5

    /// Applies and removes one event per transaction; the key goes when nothing waits any more.
    ///
    /// A decision that has ended already does nothing and has the same answer; one that was cut off goes on.
    func retry(_ decision: RetryDecision) async throws -> ParkedRetry {
        if let known = try await self.database.client.withConnection({ try await decision.answer(on: $0) }) {
            return known
        }
        // A connection of its own: with it ends the lock, however this ends.
        return try await self.database.client.withSession { connection in
            let locked = try await connection.query(
                "SELECT pg_try_advisory_lock(hashtextextended('parked:' || \(decision.subject), 0))"
            )
            guard try locked.first?.decode(Bool.self) == true else { return .refused }
            // Whoever had the lock a moment ago may have ended this very decision.
            if let known = try await decision.answer(on: connection) { return known }
            let wasParked = try await self.database.transaction(cause: decision.cause) { transaction in
                try await decision.open(in: transaction)
            }
            let result = try await self.applyAll(decision)
            return try await self.database.transaction(cause: decision.cause) { transaction in
                try await decision.close(result, isAct: wasParked, in: transaction)
            }
        }
    }

    /// What was dropped, as the audit shows it.
    ///
    /// The event itself stays with its publisher and in the archive.
    struct Discarded: Encodable, Sendable {
        let event: String
        let type: String
        let reason: String
    }

    /// Drops a waiting event of a subject for good; nil when it is not there.
    func discard(subject: String, event: UUID, in transaction: EventTransaction) async throws -> Discarded? {
        // A retry that is applying the event holds the key: afterwards there is nothing to drop.
        try await Self.lockKey(subject, transaction)
        let removed = try await transaction.query(
            "DELETE FROM parked_events WHERE subject = \(subject) AND id = \(event) RETURNING type, reason"
        )
        guard let (type, reason) = try removed.first?.decode(String.self, String.self) else { return nil }
        try await transaction.stage(
            "UPDATE inbox SET outcome = 'discarded' WHERE day = uuid_v7_day(\(event)) AND id = \(event)"
        )
        try await Self.removeKeyIfEmpty(subject, transaction)
        return Discarded(event: event.lowercased, type: type, reason: reason)
    }

    // MARK: Applying

    private enum Step {
        case applied(BatchProcessor.Record)
        case empty
    }

    /// What is tried at the moment, for the note of its failure.
    private struct Trial: Sendable {
        let event: UUID
        let since: ContinuousClock.Instant
        let moment: Date
    }

    private func applyAll(_ decision: RetryDecision) async throws -> ParkedRetry {
        var applied = 0
        var repeats = 0
        var backoff = Backoff()
        while true {
            let trial = Locked<Trial?>(nil)
            do {
                switch try await self.applyFirst(decision, trial) {
                case .applied(let record):
                    self.processor.trace([record])
                    applied += 1
                case .empty: return applied == 0 ? .nothingParked : .applied(applied)
                }
            } catch {
                try Task.checkCancellation()
                if BatchProcessor.isPassing(error), repeats < Self.repeats {
                    repeats += 1
                    try await Task.sleep(for: backoff.next())
                    continue
                }
                let reason = BatchProcessor.code(of: error)
                if let trial = trial.withLock({ $0 }) { try await self.note(trial, reason: reason) }
                return .failedAgain(applied: applied, reason: reason)
            }
        }
    }

    private func applyFirst(_ decision: RetryDecision, _ trial: Locked<Trial?>) async throws -> Step {
        let subject = decision.subject
        return try await self.database.client.withTransaction { sql in
            let pipeline = StatementPipeline(sql)
            let own = EventTransaction(pipeline, cause: Cause(), tools: self.database.tools)
            try await Self.lockKey(subject, own)
            let rows = try await own.query(
                "SELECT id, body FROM parked_events WHERE subject = \(subject) ORDER BY position LIMIT 1"
            )
            guard let row = rows.first else {
                try await Self.removeKeyIfEmpty(subject, own)
                try await pipeline.flush()
                return .empty
            }
            let (id, body) = try row.decode(UUID.self, String.self)
            trial.withLock { $0 = Trial(event: id, since: .now, moment: own.now) }
            guard let event = IncomingEvent(body: Data(body.utf8)) else { throw EventProblem.undecodableData }
            if let problem = self.handlers.problem(with: event) { throw problem }
            let record = try await self.processor.handle(event, own.caused(by: event.cause))
            try await own.stage("DELETE FROM parked_events WHERE id = \(id)")
            try await own.stage("UPDATE inbox SET outcome = 'handled' WHERE day = uuid_v7_day(\(id)) AND id = \(id)")
            try await own.stage("UPDATE parked_retries SET applied = applied + 1 WHERE id = \(decision.id)")
            try await pipeline.flush()
            return .applied(record)
        }
    }

    private func note(_ trial: Trial, reason: String) async throws {
        let took = Int64((ContinuousClock.now - trial.since) / .microseconds(1))
        try await self.database.transaction(cause: Cause()) { transaction in
            try await transaction.stage(
                "UPDATE parked_events SET attempts = attempts + 1, reason = \(reason) WHERE id = \(trial.event)"
            )
            try await transaction.query("SELECT note_try(\(trial.event), \(trial.moment), \(took), \(reason))")
        }
    }

    private static func lockKey(_ subject: String, _ transaction: EventTransaction) async throws {
        try await transaction.query("SELECT 1 FROM parked_keys WHERE subject = \(subject) FOR UPDATE")
    }

    private static func removeKeyIfEmpty(_ subject: String, _ transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            DELETE FROM parked_keys k WHERE k.subject = \(subject)
                AND NOT EXISTS (SELECT 1 FROM parked_events e WHERE e.subject = \(subject))
            """
        )
    }
}
