import Foundation
import Messaging
import Postgres
import Primitives

/// How far a rebuild is.
extension ReplayStore {
    /// Up to where events were sent for a generation; for another one than before it begins anew.
    func place(of rebuild: RebuildOrder, _ generation: Int, on database: EventDatabase) async throws -> Int64 {
        try await database.transaction(cause: Cause()) { transaction in
            try await transaction.stage(
                """
                UPDATE replays SET generation = \(Int16(generation)), position = 0, done = 0, applied = 0, known = 0,
                    behind_since = NULL
                WHERE id = \(rebuild.replay) AND generation IS DISTINCT FROM \(Int16(generation))
                """
            )
            let rows = try await transaction.query("SELECT position FROM replays WHERE id = \(rebuild.replay)")
            return try rows.first?.decode(Int64.self) ?? 0
        }
    }

    /// Takes note of a page that a service has answered.
    ///
    /// - Returns: Whether it was still running, for this generation, and nobody else had gone on with it meanwhile.
    func advance(
        _ rebuild: RebuildOrder,
        _ generation: Int,
        from place: Int64,
        to position: Int64,
        sent: Int,
        applied: Int,
        on database: EventDatabase
    ) async throws -> Bool {
        try await database.transaction(cause: Cause()) { transaction in
            let rows = try await transaction.query(
                """
                UPDATE replays SET position = \(position), done = done + \(Int64(sent)),
                    applied = applied + \(Int64(applied)), known = known + \(Int64(sent - applied)), error = NULL,
                    updated_at = \(transaction.now)
                WHERE id = \(rebuild.replay) AND state = 'running' AND generation = \(Int16(generation))
                    AND position <= \(place)
                RETURNING id
                """
            )
            return !rows.isEmpty
        }
    }

    /// Notes that the service has handled events that the archive does not have.
    ///
    /// - Returns: Since when that has been so for this generation, whatever came meanwhile.
    func behind(_ replay: Replay, on database: EventDatabase) async throws -> Date {
        // It is noted once, so the row says since when nothing has come.
        try await self.note("archive_behind", of: replay, on: database)
        return try await database.transaction(cause: Cause()) { transaction in
            let rows = try await transaction.query(
                """
                UPDATE replays SET behind_since = coalesce(behind_since, \(transaction.now)) WHERE id = \(replay.id)
                RETURNING behind_since
                """
            )
            return try rows.first?.decode(Date.self) ?? transaction.now
        }
    }
}
