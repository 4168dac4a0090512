public import Foundation
import Postgres
import Primitives

/// What operators see and do in one service, served on its internal port.
public struct MessagingOperations: Sendable {
    private let database: EventDatabase
    private let parking: Parking

    init(database: EventDatabase, parking: Parking) {
        self.database = database
        self.parking = parking
    }

    /// How far the outbox is behind.
    public func outbox() async throws -> String {
        try await self.json(
            """
            SELECT json_build_object('unsent', count(*),
                'oldest_unsent_seconds', coalesce(extract(epoch FROM clock_timestamp() - min(time)), 0))::text
            FROM outbox WHERE sent_at IS NULL
            """
        )
    }

    /// Publishes again what was sent within a span from now; who has handled it drops it.
    ///
    /// For a queue that was lost while this service did not run, or that held more than `TopologyGuardian` sends again.
    ///
    /// - Returns: How many events.
    public func resendOutbox(sentWithin span: Duration) async throws -> Int {
        try await self.database.resend(sentWithin: span)
    }

    /// Events published under a correlation id, in order.
    public func published(correlation: UUID) async throws -> String {
        try await self.json(
            """
            SELECT coalesce(json_agg(json_build_object('id', id, 'type', type, 'subject', subject, 'sequence', sequence,
                'time', time, 'causation_id', causation_id, 'sent_at', sent_at) ORDER BY position), '[]')::text
            FROM outbox WHERE correlation_id = \(correlation)
            """
        )
    }

    /// Events handled under a correlation id, with how long each took.
    public func handled(correlation: UUID) async throws -> String {
        try await self.json(
            """
            SELECT coalesce(json_agg(json_build_object('id', id, 'type', type, 'source', source, 'subject', subject,
                'outcome', outcome, 'microseconds', microseconds, 'handled_at', handled_at) ORDER BY handled_at),
                '[]')::text
            FROM inbox WHERE correlation_id = \(correlation)
            """
        )
    }

    /// Jobs by state, newest first; nil shows all states.
    public func jobs(state: String?, limit: Int) async throws -> String {
        try await self.json(
            """
            SELECT coalesce(json_agg(j), '[]')::text FROM (
                SELECT id, kind, key, subject, state, due_at, attempts, last_error, lease_until, correlation_id,
                    created_at, finished_at
                FROM jobs WHERE \(state)::text IS NULL OR state = \(state)
                ORDER BY created_at DESC LIMIT \(Int64(limit))) j
            """
        )
    }

    /// How many jobs are in which state.
    public func jobCounts() async throws -> [(state: String, count: Int64)] {
        try await self.database.client.query("SELECT state, count(*) FROM jobs GROUP BY state").map { row in
            let (state, count) = try row.decode(String.self, Int64.self)
            return (state, count)
        }
    }

    /// Parked subjects with the events that wait.
    public func parked() async throws -> String {
        try await self.json(
            """
            SELECT coalesce(json_agg(k), '[]')::text FROM (
                SELECT p.subject, p.reason, p.parked_at,
                    (SELECT json_agg(json_build_object('id', e.id, 'type', e.type, 'reason', e.reason,
                        'attempts', e.attempts, 'parked_at', e.parked_at) ORDER BY e.position)
                     FROM parked_events e WHERE e.subject = p.subject) AS events
                FROM parked_keys p ORDER BY p.parked_at) k
            """
        )
    }

    /// Calls to the provider, newest first.
    public func providerCalls(limit: Int) async throws -> String {
        try await self.json(
            """
            SELECT coalesce(json_agg(c), '[]')::text FROM (
                SELECT reference, attempt, operation, started_at, ended_at, outcome, correlation_id
                FROM provider_calls ORDER BY started_at DESC LIMIT \(Int64(limit))) c
            """
        )
    }

    /// Retries the parked events of a subject, in order.
    public func retryParked(subject: String) async throws -> ParkedRetry {
        let result = try await self.parking.retry(subject: subject)
        self.database.wake()
        return result
    }

    /// Drops one parked event for good; false when it is not there.
    public func discardParked(subject: String, event: UUID) async throws -> Bool {
        try await self.parking.discard(subject: subject, event: event)
    }

    /// Makes a waiting or failed job due now; false when there is none in such a state.
    public func releaseJob(_ id: UUID) async throws -> Bool {
        let changed = try await self.database.client.withTransaction { sql in
            try await sql.execute(
                """
                UPDATE jobs SET state = 'queued', due_at = transfa_now(), finished_at = NULL
                WHERE id = \(id) AND state IN ('queued', 'failed', 'skipped')
                """
            )
        }
        self.database.wake()
        return changed == 1
    }

    /// Cancels a waiting or failed job; false when there is none in such a state.
    public func cancelJob(_ id: UUID) async throws -> Bool {
        try await self.database.client.withTransaction { sql in
            try await sql.execute(
                """
                UPDATE jobs SET state = 'cancelled', finished_at = transfa_now(), last_error = 'cancelled_by_operator'
                WHERE id = \(id) AND state IN ('queued', 'failed')
                """
            )
        } == 1
    }

    /// Moves the database's clock, and sees to it that there are partitions for the new days.
    ///
    /// For the sandbox profile only.
    public func setClock(offset: Duration) async throws {
        try await self.database.client.withTransaction { sql in
            _ = try await sql.execute(
                "UPDATE clock_offset SET moved = \(offset.wholeMilliseconds) * interval '1 millisecond'"
            )
            _ = try await sql.execute(Housekeeping.ensurePartitions)
        }
    }

    private func json(_ statement: SQL) async throws -> String {
        try await self.database.client.query(statement).first?.decode(String.self) ?? "null"
    }
}
