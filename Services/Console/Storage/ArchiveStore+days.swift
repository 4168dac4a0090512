import Foundation
import Messaging
import Postgres
import Primitives

/// A day of the archive.
struct ArchiveDay: Sendable {
    /// Counted from 1970-01-01.
    let number: Int
    /// About how many events it has.
    let events: Int64
    let bytes: Int64

    /// The day as text, `yyyy-MM-dd`.
    var text: String { CivilDate(daysSince1970: self.number).description }
}

/// Partitions.
extension ArchiveStore {
    /// Makes the partitions of these days, counted from 1970-01-01.
    func ensure(_ days: some Collection<Int>, in transaction: EventTransaction) async throws {
        guard !days.isEmpty else { return }
        try await transaction.query("CALL ensure_archive_days(\(days.map { Int32($0) }))")
    }

    /// The days that there are partitions for, the oldest first.
    func days(on database: EventDatabase) async throws -> [ArchiveDay] {
        try await database.client.query("SELECT day, events, bytes FROM archive_days()").map { row in
            let (number, events, bytes) = try row.decode(Int32.self, Int64.self, Int64.self)
            return ArchiveDay(number: Int(number), events: events, bytes: bytes)
        }
    }

    /// Drops a day with all its events.
    ///
    /// - Throws: `PostgresError` 55P03 when somebody reads it for longer than a moment.
    func drop(_ day: ArchiveDay, in transaction: EventTransaction) async throws {
        try await transaction.query("CALL drop_archive_day(\(Int32(day.number)))")
    }

    /// Deletes some of what has no day of its own and was stored before a moment.
    func forgetOthers(before moment: Date, limit: Int, in transaction: EventTransaction) async throws -> Int {
        let rows = try await transaction.query("SELECT forget_others(\(moment), \(Int64(limit)))")
        return Int(try rows.first?.decode(Int64.self) ?? 0)
    }
}
