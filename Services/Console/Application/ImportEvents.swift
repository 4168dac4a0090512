import Foundation
import Messaging
import Primitives

/// Puts events of another archive into this one, for debugging.
struct ImportEvents: Sendable {
    let database: EventDatabase
    let store: ArchiveStore
    let days: ArchiveDays

    /// Bytes of one order.
    static let maximumBytes = 4 * 1024 * 1024

    /// A line that is no event; lines count from 1.
    struct BadLine: Error {
        let number: Int
        let reason: ArchivedEvent.MalformedReason
    }

    /// Stores the events of some lines; what is there already stays as it is.
    ///
    /// - Throws: `BadLine`; then nothing was stored.
    func callAsFunction(_ bytes: [UInt8], cause: Cause) async throws -> (seen: Int, added: Int) {
        var events: [ArchivedEvent] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where !line.isEmpty {
            do throws(ArchivedEvent.MalformedReason) {
                events.append(try ArchivedEvent(bytes: Array(line)))
            } catch {
                throw BadLine(number: index + 1, reason: error)
            }
        }
        let all = events
        try await self.days.prepare(for: all)
        let added = try await self.database.transaction(cause: cause) {
            try await self.store.append(all, from: .import, in: $0)
        }
        return (all.count, added)
    }
}
