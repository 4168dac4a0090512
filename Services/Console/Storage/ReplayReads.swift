import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// Reads events of the archive for replay, in the order of their ids.
struct ReplayReads: Sendable {
    let database: EventDatabase

    /// The most events that are counted: a number of that size is as good as "very many".
    static let countable: Int64 = 1_000_000

    /// Events behind a place.
    ///
    /// - Parameters:
    ///   - selection: Which.
    ///   - types: Of these kinds.
    ///   - place: Behind this id.
    ///   - position: Stored no later than this.
    ///   - limit: The most events.
    /// - Returns: The events, in the order of their ids.
    /// - Throws: `PostgresError`.
    func page(
        _ selection: ReplaySelection,
        _ types: [String],
        after place: UUID,
        upTo position: Int64,
        limit: Int
    ) async throws -> [ReplayBatch.Item] {
        try await self.database.client.query(
            """
            SELECT id, source, type, subject, sequence, body FROM archived_events
            WHERE id > \(place) AND position <= \(position) AND \(selection.conditions(of: types))
            ORDER BY id LIMIT \(Int64(limit))
            """
        ).map { row in
            let (id, source, type, subject, sequence, body) =
                try row.decode(UUID.self, String.self, String.self, String.self, Int64.self, String.self)
            return ReplayBatch.Item(
                id: id,
                source: source,
                type: type,
                subject: subject,
                sequence: sequence,
                body: body
            )
        }
    }

    /// How many events are selected, at most `countable`.
    func count(_ selection: ReplaySelection, _ types: [String], upTo position: Int64) async throws -> Int64 {
        try await self.database.client.query(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM archived_events WHERE position <= \(position) AND \(selection.conditions(of: types))
                LIMIT \(Self.countable)) e
            """
        ).first?.decode(Int64.self) ?? 0
    }

    /// What a replay would be about.
    struct Plan: Sendable {
        let types: [(type: String, events: Int64, first: UUID, last: UUID)]
        let isComplete: Bool
    }

    /// Counts what is selected, by kind, whether a service hears it or not.
    func plan(_ selection: ReplaySelection) async throws -> Plan {
        let limit = Self.countable + 1
        let rows = try await self.database.client.query(
            """
            SELECT type, count(*), min(id::text), max(id::text) FROM (
                SELECT type, id FROM archived_events WHERE \(selection.conditions(of: selection.types))
                LIMIT \(limit)) e
            GROUP BY type ORDER BY type
            """
        )
        var types: [(type: String, events: Int64, first: UUID, last: UUID)] = []
        for row in rows {
            let (type, events, first, last) = try row.decode(String.self, Int64.self, String.self, String.self)
            guard let first = UUID(text: first), let last = UUID(text: last) else { continue }
            types.append((type, events, first, last))
        }
        return Plan(types: types, isComplete: types.reduce(0) { $0 + $1.events } < limit)
    }
}

extension ReplaySelection {
    /// As conditions of a query; the text depends on which are given, so each combination has its own plan.
    fileprivate func conditions(of types: [String]?) -> SQL {
        var all: [SQL] = []
        if let from = self.from { all.append("id >= \(from.firstID)") }
        if let to = self.to { all.append("id < \(to.firstID)") }
        if let types { all.append("type = ANY(\(types))") }
        if let subject = self.subject { all.append("subject = \(subject)") }
        if let correlation = self.correlation { all.append("correlation_id = \(correlation)") }
        if let ids = self.ids { all.append("id = ANY(\(ids))") }
        return all.isEmpty ? "true" : SQL.join(all, separator: " AND ")
    }
}
