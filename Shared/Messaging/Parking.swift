import Contracts
import Foundation
import Logging
import Postgres
import Primitives

/// What became of a retry.
public enum ParkedRetry: Sendable, Equatable {
    /// All waiting events were applied, this many.
    case applied(Int)
    /// This many were applied, then one failed again and stays first.
    case failedAgain(applied: Int, reason: String)
    /// Another retry of the subject is under way.
    case refused
    /// Nothing is parked there.
    case nothingParked
}

/// Retries parked events of one subject, in order.
struct Parking: Sendable {
    let handlers: EventHandlers
    let database: EventDatabase
    let logger: Logger

    /// How often a retry is repeated that failed through no fault of the event.
    private static let repeats = 5

    /// Applies and removes one event per transaction; the key goes when nothing waits any more.
    func retry(subject: String) async throws -> ParkedRetry {
        // A connection of its own: with it ends the lock, however this ends.
        try await self.database.client.withSession { connection in
            let locked = try await connection.query(
                "SELECT pg_try_advisory_lock(hashtextextended('parked:' || \(subject), 0))"
            )
            guard try locked.first?.decode(Bool.self) == true else { return .refused }
            return try await self.applyAll(subject)
        }
    }

    /// Drops the first waiting event of a subject for good; the operators' audit says why.
    func discard(subject: String, event: UUID) async throws -> Bool {
        try await self.database.transaction(cause: Cause()) { transaction in
            let removed = try await transaction.query(
                "DELETE FROM parked_events WHERE subject = \(subject) AND id = \(event) RETURNING id"
            )
            guard !removed.isEmpty else { return false }
            try await transaction.stage(
                "UPDATE inbox SET outcome = 'discarded' WHERE day = uuid_v7_day(\(event)) AND id = \(event)"
            )
            try await Self.removeKeyIfEmpty(subject, transaction)
            return true
        }
    }

    private func applyAll(_ subject: String) async throws -> ParkedRetry {
        var applied = 0
        var repeats = 0
        var backoff = Backoff()
        while true {
            do {
                switch try await self.applyFirst(subject) {
                case .applied: applied += 1
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
                try await self.recordFailure(subject, reason: reason)
                return .failedAgain(applied: applied, reason: reason)
            }
        }
    }

    private enum Step {
        case applied
        case empty
    }

    private func applyFirst(_ subject: String) async throws -> Step {
        try await self.database.client.withTransaction { sql in
            let pipeline = StatementPipeline(sql)
            let own = EventTransaction(pipeline, cause: Cause(), tools: self.database.tools)
            _ = try await own.query("SELECT 1 FROM parked_keys WHERE subject = \(subject) FOR UPDATE")
            let rows = try await own.query(
                "SELECT id, body FROM parked_events WHERE subject = \(subject) ORDER BY position LIMIT 1"
            )
            guard let row = rows.first else {
                try await Self.removeKeyIfEmpty(subject, own)
                try await pipeline.flush()
                return .empty
            }
            let (id, body) = try row.decode(UUID.self, String.self)
            guard let event = IncomingEvent(body: Data(body.utf8)) else { throw EventProblem.undecodableData }
            if let entry = self.handlers.entries[event.attributes.type] {
                guard event.attributes.majorVersion == entry.majorVersion else { throw EventProblem.unknownVersion }
                let transaction = EventTransaction(pipeline, cause: event.cause, tools: self.database.tools)
                try await entry.handle(event.attributes, event.body, transaction)
            }
            try await own.stage("DELETE FROM parked_events WHERE id = \(id)")
            try await own.stage("UPDATE inbox SET outcome = 'handled' WHERE day = uuid_v7_day(\(id)) AND id = \(id)")
            try await pipeline.flush()
            return .applied
        }
    }

    private func recordFailure(_ subject: String, reason: String) async throws {
        try await self.database.transaction(cause: Cause()) { transaction in
            try await transaction.stage(
                """
                UPDATE parked_events SET attempts = attempts + 1, reason = \(reason)
                WHERE position = (SELECT min(position) FROM parked_events WHERE subject = \(subject))
                """
            )
        }
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
