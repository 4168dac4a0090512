import Foundation
import Postgres

/// Job: deletes the rows of a generation that nobody sees any more, and forgets what the live one was made of; its key is
/// `<projection>/<generation>`.
struct CleanProjections: Sendable {
    static let kind: JobKind = "clean_projection"

    let projections: Projections

    private static let rowsAtOnce: Int64 = 5000
    private static let statementsPerRun = 50

    var definition: JobDefinition { JobDefinition(Self.kind, concurrency: 1) { try await self($0) } }

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        let parts = job.key.split(separator: "/")
        guard parts.count == 2, let generation = Int16(parts[1]),
            let projection = try? self.projections.projection(String(parts[0]))
        else { return .failed(reason: "no_projection") }
        for _ in 0..<Self.statementsPerRun {
            let gone = try await self.projections.database.transaction(cause: job.cause) { transaction in
                let place = try await Self.lockShared(projection.name, transaction)
                // The job of an older rebuild may come late.
                guard place.live != generation, place.building != generation else { return 0 }
                return try await Self.delete(generation, of: projection, place, transaction)
            }
            if gone == 0 { return .done }
        }
        return .again(reason: "under_way", after: .zero)
    }

    private static func lockShared(
        _ name: String,
        _ transaction: EventTransaction
    ) async throws -> (live: Int16, building: Int16?) {
        let rows = try await transaction.query("SELECT live, building FROM projections WHERE name = \(name) FOR SHARE")
        guard let row = rows.first else { throw RebuildProblem.unknownProjection }
        let (live, building) = try row.decode(Int16.self, Int16?.self)
        return (live, building)
    }

    private static func delete(
        _ generation: Int16,
        of projection: Projection,
        _ place: (live: Int16, building: Int16?),
        _ transaction: EventTransaction
    ) async throws -> Int {
        for table in projection.tables {
            let name = SQL(unsafe: table)
            let gone = try await Self.count(
                "DELETE FROM \(name) WHERE ctid = ANY(ARRAY(SELECT ctid FROM \(name) WHERE generation = \(generation) "
                    + "LIMIT \(Self.rowsAtOnce)))",
                transaction
            )
            if gone > 0 { return gone }
        }
        let old = try await Self.count(
            """
            DELETE FROM projection_events WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM projection_events WHERE name = \(projection.name) AND generation = \(generation)
                LIMIT \(Self.rowsAtOnce)))
            """,
            transaction
        )
        guard old == 0 else { return old }
        // What the inbox knows will not be heard again, and what is older than the inbox is not taken any more.
        return try await Self.count(
            """
            DELETE FROM projection_events WHERE ctid = ANY(ARRAY(
                SELECT e.ctid FROM projection_events e
                WHERE e.name = \(projection.name) AND e.generation = \(place.live)
                    AND (uuid_v7_day(e.event_id) < oldest_inbox_day() OR EXISTS (
                        SELECT FROM inbox i WHERE i.day = uuid_v7_day(e.event_id) AND i.id = e.event_id
                            AND i.outcome <> 'parked'))
                LIMIT \(Self.rowsAtOnce)))
            """,
            transaction
        )
    }

    private static func count(_ statement: SQL, _ transaction: EventTransaction) async throws -> Int {
        let rows = try await transaction.query("WITH gone AS (\(statement) RETURNING 1) SELECT count(*) FROM gone")
        return Int(try rows.first?.decode(Int64.self) ?? 0)
    }
}

extension MessagingOperations {
    /// Runs the job `clean_projection` once; for tests of services.
    package func clean(_ job: Job) async throws -> JobOutcome {
        try await CleanProjections(projections: self.projections)(job)
    }
}
