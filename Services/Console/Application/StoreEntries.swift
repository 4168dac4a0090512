import Contracts
import Foundation
import Messaging
import Primitives

/// Stores entries of the log, and in the same transaction that the log was read so far.
struct StoreEntries: Sendable {
    let database: EventDatabase
    let store: ArchiveStore
    let days: ArchiveDays
    let log: ArchiveLog

    /// What is found in some entries.
    private struct Contents {
        var events: [ArchivedEvent] = []
        var malformed: [MalformedMessage] = []
    }

    /// A gap that ends with these entries.
    struct GapBefore: Sendable {
        let reason: GapReason
        let missing: Range<UInt64>?
    }

    /// Stores them; what is stored already stays as it is.
    ///
    /// - Throws: `ArchiveStore.Superseded`, and what the database says; then nothing was stored.
    func callAsFunction(_ entries: [EventLogEntry], after gap: GapBefore? = nil, epoch: Int64) async throws {
        guard let last = entries.last else { return }
        let contents = Self.contents(of: entries)
        do {
            try await self.commit(contents, upTo: last, after: gap, epoch: epoch)
        } catch {
            guard RefusedContents.isReason(error) else { throw error }
            try await self.commitApart(entries, last, after: gap, epoch: epoch)
        }
    }

    /// One of them is what the database cannot hold: halved again and again it is found, and kept aside.
    private func commitApart(
        _ entries: [EventLogEntry],
        _ last: EventLogEntry,
        after gap: GapBefore?,
        epoch: Int64
    ) async throws {
        guard entries.count > 1 else {
            let malformed = Contents(malformed: [Self.malformed(last, .refusedByDatabase)])
            return try await self.commit(malformed, upTo: last, after: gap, epoch: epoch)
        }
        let middle = entries.count / 2
        try await self.callAsFunction(Array(entries[..<middle]), after: gap, epoch: epoch)
        try await self.callAsFunction(Array(entries[middle...]), epoch: epoch)
    }

    private func commit(
        _ contents: Contents,
        upTo last: EventLogEntry,
        after gap: GapBefore?,
        epoch: Int64
    ) async throws {
        let place = StreamPlace(offset: last.offset, body: last.body)
        let newest = contents.events.last?.time
        try await self.days.prepare(for: contents.events)
        let new = try await self.database.transaction(cause: Cause()) { transaction in
            if let gap { try await OpenGap(store: self.store)(gap.reason, gap.missing, in: transaction) }
            try await self.store.advance(to: place, newest: newest, epoch: epoch, in: transaction)
            try await self.store.keep(contents.malformed, in: transaction)
            let new = try await self.store.append(contents.events, from: .stream, in: transaction)
            CrashPoint.reach("before_archive_commit")
            return new
        }
        CrashPoint.reach("after_archive_commit")
        if let gap { self.log.gap(gap.reason, gap.missing) }
        let lag = newest.map { self.days.clock.now.timeIntervalSince($0) }
        self.log.stored(contents.events.count, new: new, malformed: contents.malformed.count, lag: lag)
    }

    private static func contents(of entries: [EventLogEntry]) -> Contents {
        var contents = Contents()
        for entry in entries {
            do throws(ArchivedEvent.MalformedReason) {
                let event = try ArchivedEvent(bytes: entry.body)
                guard Self.isRouted(event, entry) else { throw ArchivedEvent.MalformedReason.wrongKey }
                contents.events.append(event)
            } catch {
                contents.malformed.append(Self.malformed(entry, error))
            }
        }
        return contents
    }

    /// Whether it came with a key of its kind; past the exchange writes an administrator of the broker alone.
    private static func isRouted(_ event: ArchivedEvent, _ entry: EventLogEntry) -> Bool {
        entry.routingKey == Topology.eventLog
            || Topology.isKey(entry.routingKey, of: EventType(rawValue: event.type))
    }

    private static func malformed(_ entry: EventLogEntry, _ reason: ArchivedEvent.MalformedReason) -> MalformedMessage {
        MalformedMessage(offset: entry.offset, routingKey: entry.routingKey, reason: reason, body: entry.body)
    }
}

/// Records a gap and asks for what is needed to fill it.
struct OpenGap: Sendable {
    let store: ArchiveStore

    /// Events may be written down long before they are published: outboxes are read from so long before the newest one.
    private static let margin: TimeInterval = 86_400
    /// No outbox keeps events longer.
    private static let longest: TimeInterval = 32 * 86_400

    /// Records it; without a moment outboxes are read from some time before what was stored last.
    func callAsFunction(
        _ reason: GapReason,
        _ missing: Range<UInt64>?,
        since moment: Date? = nil,
        in transaction: EventTransaction
    ) async throws {
        let oldest = transaction.now.addingTimeInterval(-Self.longest)
        let newest = try await self.store.newestTime(in: transaction)
        // The clock of a publisher may be ahead.
        let end = newest.map { min($0, transaction.now).addingTimeInterval(-Self.margin) }
        let since = max(moment ?? end ?? oldest, oldest)
        let services = BackfillArchive.services.map(\.rawValue)
        let gap = try await self.store.openGap(
            reason,
            since: since,
            missing: missing,
            services: services,
            in: transaction
        )
        for service in services {
            try await transaction.enqueue(ConsoleJob.backfill, key: "\(gap)/\(service)", subject: service)
        }
    }
}
