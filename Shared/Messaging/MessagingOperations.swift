import Contracts
public import Foundation
import Postgres
import Primitives

/// What operators see and do in one service, served on its internal port.
///
/// What they do is in `MessagingOperations+acts.swift`.
public struct MessagingOperations: Sendable {
    let service: ServiceName
    let database: EventDatabase
    let parking: Parking
    /// What the service derives from events alone.
    public let projections: Projections

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

    func json(_ statement: SQL) async throws -> String {
        try await self.database.client.query(statement).first?.decode(String.self) ?? "null"
    }
}
