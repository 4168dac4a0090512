import Foundation
import Primitives

/// A part of the log that was not read, and how far it was fetched from the outboxes.
struct Gap: Sendable {
    let id: Int64
    let reason: String
    let since: Date
    let firstMissing: Int64?
    let lastMissing: Int64?
    let foundAt: Date
    let closedAt: Date?
}

/// How far the outbox of a service was read.
struct Backfill: Sendable {
    let service: String
    /// The last event that was seen.
    let after: UUID
    let seen: Int64
    let added: Int64
    let finishedAt: Date?
}

extension Date {
    /// The lowest UUIDv7 of that moment.
    var firstID: UUID {
        let milliseconds = UInt64(max(0, self.millisecondsSince1970)) & 0xffff_ffff_ffff
        let time = (0..<6).map { UInt8(truncatingIfNeeded: milliseconds >> (40 - 8 * $0)) }
        let rest: [UInt8] = [0x70, 0, 0x80, 0, 0, 0, 0, 0, 0, 0]
        return UUID(bytes: time + rest) ?? UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    }
}
