import Foundation
import Messaging
import Postgres
import Primitives

/// Parts of the log that were not read.
extension ArchiveStore {
    /// Records that events since a moment may be missing, and begins a back-fill for each service.
    func openGap(
        _ reason: GapReason,
        since: Date,
        missing: Range<UInt64>?,
        services: [String],
        in transaction: EventTransaction
    ) async throws -> Int64 {
        let rows = try await transaction.query(
            """
            INSERT INTO archive_gaps (reason, since, first_missing, last_missing, found_at)
            VALUES (\(reason.rawValue), \(since), \(missing.map { Int64($0.lowerBound) }),
                \(missing.map { Int64($0.upperBound) - 1 }), \(transaction.now))
            RETURNING id
            """
        )
        guard let id = try rows.first?.decode(Int64.self) else { throw Superseded() }
        for service in services {
            try await transaction.stage(
                """
                INSERT INTO archive_backfills (gap_id, service, after_id) VALUES (\(id), \(service), \(since.firstID))
                """
            )
        }
        return id
    }

    /// How far a back-fill is; nil when it is done, or there is none.
    func backfill(of gap: Int64, _ service: String, in transaction: EventTransaction) async throws -> UUID? {
        try await transaction.query(
            """
            SELECT after_id FROM archive_backfills
            WHERE gap_id = \(gap) AND service = \(service) AND finished_at IS NULL FOR UPDATE
            """
        ).first?.decode(UUID.self)
    }

    /// Notes how far a back-fill is; without a next id it is done, and with the last one so is the gap.
    func advance(
        _ gap: Int64,
        _ service: String,
        to next: UUID?,
        seen: Int,
        added: Int,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.stage(
            """
            UPDATE archive_backfills SET after_id = coalesce(\(next), after_id), seen = seen + \(Int64(seen)),
                added = added + \(Int64(added)), finished_at = CASE WHEN \(next == nil) THEN \(transaction.now) END
            WHERE gap_id = \(gap) AND service = \(service)
            """
        )
        // One at a time: the last two must see each other.
        try await transaction.stage("SELECT FROM archive_gaps WHERE id = \(gap) FOR UPDATE")
        try await transaction.stage(
            """
            UPDATE archive_gaps SET closed_at = \(transaction.now) WHERE id = \(gap) AND closed_at IS NULL
                AND NOT EXISTS (SELECT FROM archive_backfills WHERE gap_id = \(gap) AND finished_at IS NULL)
            """
        )
    }

    /// When the newest event was stored from the log, and said to have happened.
    func newestTime(in transaction: EventTransaction) async throws -> Date? {
        try await transaction.query("SELECT newest_time FROM archive_progress").first?.decode(Date?.self)
    }

    /// The newest gaps, with how far each outbox was read.
    func gaps(limit: Int, on database: EventDatabase) async throws -> [(gap: Gap, backfills: [Backfill])] {
        let rows = try await database.client.query(
            """
            SELECT id, reason, since, first_missing, last_missing, found_at, closed_at FROM archive_gaps
            ORDER BY id DESC LIMIT \(Int64(limit))
            """
        )
        let gaps = try rows.map { row in
            let (id, reason, since, first, last, found, closed) = try row.decode(
                Int64.self,
                String.self,
                Date.self,
                Int64?.self,
                Int64?.self,
                Date.self,
                Date?.self
            )
            return Gap(
                id: id,
                reason: reason,
                since: since,
                firstMissing: first,
                lastMissing: last,
                foundAt: found,
                closedAt: closed
            )
        }
        let backfills = try await self.backfills(of: gaps.map(\.id), on: database)
        return gaps.map { ($0, backfills[$0.id] ?? []) }
    }

    private func backfills(of gaps: [Int64], on database: EventDatabase) async throws -> [Int64: [Backfill]] {
        let rows = try await database.client.query(
            """
            SELECT gap_id, service, after_id, seen, added, finished_at FROM archive_backfills
            WHERE gap_id = ANY(\(gaps)) ORDER BY gap_id, service
            """
        )
        var found: [Int64: [Backfill]] = [:]
        for row in rows {
            let (gap, service, after, seen, added, finished) = try row.decode(
                Int64.self,
                String.self,
                UUID.self,
                Int64.self,
                Int64.self,
                Date?.self
            )
            let backfill = Backfill(service: service, after: after, seen: seen, added: added, finishedAt: finished)
            found[gap, default: []].append(backfill)
        }
        return found
    }
}
