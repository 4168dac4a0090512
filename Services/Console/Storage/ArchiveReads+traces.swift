import Foundation
import Messaging
import Postgres

/// What belongs together.
extension ArchiveReads {
    private static let columns: SQL = """
        id, position, time, source, type, subject, sequence, correlation_id, causation_id, refs
        """

    /// Events that have an id, or that say it started or caused them.
    ///
    /// Each question has an index of its own; as one condition they would have none.
    func events(of id: UUID, limit: Int) async throws -> [TracedEvent] {
        try await self.database.client.query(
            """
            (SELECT \(Self.columns) FROM archived_events WHERE id = \(id))
            UNION ALL
            (SELECT \(Self.columns) FROM archived_events WHERE correlation_id = \(id) LIMIT \(Int64(limit)))
            UNION ALL
            (SELECT \(Self.columns) FROM archived_events WHERE causation_id = \(id) LIMIT \(Int64(limit)))
            """
        ).map(Self.traced)
    }

    /// Events about any of these names, and those whose data holds one.
    func events(naming names: Set<String>, limit: Int) async throws -> [TracedEvent] {
        guard !names.isEmpty else { return [] }
        let names = Array(names)
        return try await self.database.client.query(
            """
            (SELECT \(Self.columns) FROM archived_events WHERE subject = ANY(\(names)) LIMIT \(Int64(limit)))
            UNION ALL
            (SELECT \(Self.columns) FROM archived_events WHERE refs IS NOT NULL AND refs && \(names)
                LIMIT \(Int64(limit)))
            """
        ).map(Self.traced)
    }

    /// Events of any of these correlations.
    func events(correlatedBy ids: Set<UUID>, limit: Int) async throws -> [TracedEvent] {
        guard !ids.isEmpty else { return [] }
        return try await self.database.client.query(
            """
            SELECT \(Self.columns) FROM archived_events WHERE correlation_id = ANY(\(Array(ids))) LIMIT \(Int64(limit))
            """
        ).map(Self.traced)
    }

    private static func traced(_ row: PostgresRow) throws -> TracedEvent {
        let (id, position, time, source, type, subject, sequence, correlation, causation, references) = try row.decode(
            UUID.self,
            Int64.self,
            Date.self,
            String.self,
            String.self,
            String.self,
            Int64.self,
            UUID?.self,
            UUID?.self,
            [String]?.self
        )
        return TracedEvent(
            id: id,
            position: position,
            time: time,
            source: source,
            type: type,
            subject: subject,
            sequence: sequence,
            correlationID: correlation,
            causationID: causation,
            references: references ?? []
        )
    }
}
