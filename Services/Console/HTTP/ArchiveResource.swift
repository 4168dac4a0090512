import Foundation
import Primitives

/// How far the archive is, as JSON.
struct ArchiveResource: Encodable {
    let position: Int64
    /// Every event since then is there, when no gap is open.
    let wholeFrom: String?
    let isFollowing: Bool
    let streamOffset: Int64?
    let newestTime: String?
    let readAt: String?
    let openGaps: Int64
    let malformedMessages: Int64
    let days: [Day]

    /// A day that has a partition.
    struct Day: Encodable {
        let day: String
        /// Estimated.
        let events: Int64
        let bytes: Int64
    }

    private enum CodingKeys: String, CodingKey {
        case position
        case wholeFrom = "whole_from"
        case isFollowing = "is_following"
        case streamOffset = "stream_offset"
        case newestTime = "newest_time"
        case readAt = "read_at"
        case openGaps = "open_gaps"
        case malformedMessages = "malformed_messages"
        case days
    }

    init(_ status: ArchiveReads.Status, wholeFrom: Date?, days: [ArchiveDay], isFollowing: Bool) {
        self.position = status.position
        self.wholeFrom = wholeFrom.map(Timestamp.text)
        self.isFollowing = isFollowing
        self.streamOffset = status.streamOffset
        self.newestTime = status.newestTime.map(Timestamp.text)
        self.readAt = status.readAt.map(Timestamp.text)
        self.openGaps = status.openGaps
        self.malformedMessages = status.malformedMessages
        self.days = days.map { Day(day: $0.text, events: $0.events, bytes: $0.bytes) }
    }
}

/// Gaps, the newest first.
struct GapList: Encodable {
    let data: [GapResource]
}

/// A gap, with how far each outbox was read.
struct GapResource: Encodable {
    let id: Int64
    let reason: String
    let since: String
    let firstMissing: Int64?
    let lastMissing: Int64?
    let foundAt: String
    let closedAt: String?
    let outboxes: [Outbox]

    /// How far an outbox was read.
    struct Outbox: Encodable {
        let service: String
        let after: String
        let seen: Int64
        let added: Int64
        let finishedAt: String?

        private enum CodingKeys: String, CodingKey {
            case service, after, seen, added
            case finishedAt = "finished_at"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case id, reason, since
        case firstMissing = "first_missing"
        case lastMissing = "last_missing"
        case foundAt = "found_at"
        case closedAt = "closed_at"
        case outboxes
    }

    init(_ gap: Gap, _ backfills: [Backfill]) {
        self.id = gap.id
        self.reason = gap.reason
        self.since = Timestamp.text(gap.since)
        self.firstMissing = gap.firstMissing
        self.lastMissing = gap.lastMissing
        self.foundAt = Timestamp.text(gap.foundAt)
        self.closedAt = gap.closedAt.map(Timestamp.text)
        self.outboxes = backfills.map {
            Outbox(
                service: $0.service,
                after: $0.after.lowercased,
                seen: $0.seen,
                added: $0.added,
                finishedAt: $0.finishedAt.map(Timestamp.text)
            )
        }
    }
}
