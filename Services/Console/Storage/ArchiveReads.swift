import Foundation
import Messaging
import Postgres
import Primitives

/// Reads the archive.
struct ArchiveReads: Sendable {
    let database: EventDatabase

    /// How far the archive is.
    struct Status: Sendable {
        let position: Int64
        let streamOffset: Int64?
        let newestTime: Date?
        let readAt: Date?
        let openGaps: Int64
        let malformedMessages: Int64
    }

    /// How far the archive is.
    func status() async throws -> Status {
        let rows = try await self.database.client.query(
            """
            SELECT position, stream_offset, newest_time, read_at,
                (SELECT count(*) FROM archive_gaps WHERE closed_at IS NULL), (SELECT count(*) FROM malformed_messages)
            FROM archive_progress
            """
        )
        guard let row = rows.first else { return Status(position: 0) }
        let (position, offset, newest, read, gaps, malformed) =
            try row.decode(Int64.self, Int64?.self, Date?.self, Date?.self, Int64.self, Int64.self)
        return Status(
            position: position,
            streamOffset: offset,
            newestTime: newest,
            readAt: read,
            openGaps: gaps,
            malformedMessages: malformed
        )
    }

    /// The moment from which on every event is there, as far as gaps that were found are filled.
    ///
    /// Days from before the oldest partition were dropped, or were before the archive. When it began late, outboxes were
    /// read, and these keep 30 days.
    func beginning() async throws -> Date? {
        try await self.database.client.query(
            """
            SELECT greatest((SELECT to_timestamp(min(d.day)::bigint * 86400) FROM archive_days() d),
                (SELECT max(g.found_at) - interval '30 days' FROM archive_gaps g WHERE g.reason = 'began_late'))
            """
        ).first?.decode(Date?.self)
    }

    /// The position of the newest event.
    func head() async throws -> Int64 {
        try await self.database.client.query("SELECT position FROM archive_progress").first?.decode(Int64.self) ?? 0
    }

    /// One event.
    func event(_ id: UUID) async throws -> StoredEvent? {
        try await self.database.client.query(
            "SELECT id, position, stored_at, origin, body FROM archived_events WHERE id = \(id)"
        ).first.map(Self.event)
    }

    /// Events before an id, the newest first.
    func page(_ filter: EventFilter, before id: UUID, limit: Int) async throws -> [StoredEvent] {
        var filter = filter
        if filter.end?.bytes.lexicographicallyPrecedes(id.bytes) != true { filter.end = id }
        return try await self.database.client.query(
            """
            SELECT id, position, stored_at, origin, body FROM archived_events WHERE \(filter.conditions)
            ORDER BY id DESC LIMIT \(Int64(limit))
            """
        ).map(Self.event)
    }

    /// Events stored behind a position and not behind another, in the order in which they were stored.
    func scan(_ filter: EventFilter, after position: Int64, upTo end: Int64, limit: Int) async throws -> [StoredEvent] {
        try await self.database.client.query(
            """
            SELECT id, position, stored_at, origin, body FROM archived_events
            WHERE position > \(position) AND position <= \(end) AND \(filter.conditions)
            ORDER BY position LIMIT \(Int64(limit))
            """
        ).map(Self.event)
    }

    private static func event(_ row: PostgresRow) throws -> StoredEvent {
        let (id, position, stored, origin, body) =
            try row.decode(UUID.self, Int64.self, Date.self, String.self, String.self)
        return StoredEvent(id: id, position: position, storedAt: stored, origin: origin, body: body)
    }
}

extension ArchiveReads.Status {
    /// An archive that has nothing yet.
    fileprivate init(position: Int64) {
        self.init(
            position: position,
            streamOffset: nil,
            newestTime: nil,
            readAt: nil,
            openGaps: 0,
            malformedMessages: 0
        )
    }
}

extension EventFilter {
    /// As conditions of a query; the text depends on which are given, so each combination has its own plan.
    fileprivate var conditions: SQL {
        var all: [SQL] = []
        if let first = self.first { all.append("id >= \(first)") }
        if let end = self.end { all.append("id < \(end)") }
        if let type = self.type { all.append("type = \(type)") }
        if let types = self.types { all.append("type = ANY(\(types))") }
        if let source = self.source { all.append("source = \(source)") }
        if let subject = self.subject { all.append("subject = \(subject)") }
        if let correlation = self.correlation { all.append("correlation_id = \(correlation)") }
        if let causation = self.causation { all.append("causation_id = \(causation)") }
        return all.isEmpty ? "true" : SQL.join(all, separator: " AND ")
    }
}
