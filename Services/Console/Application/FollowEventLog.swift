import EventLoops
import Foundation
import Messaging
import Primitives
import ServiceLifecycle

/// Archives the event log: one replica at a time reads it from where the archive ends.
///
/// Place and events are one commit, so a crash at any moment leaves nothing out and stores nothing twice. Only the last
/// replica that took over can commit.
final class FollowEventLog: Service, Sendable {
    private let reader: EventLogReader
    private let leadership: ArchiveLeadership
    private let database: EventDatabase
    private let store: ArchiveStore
    private let entries: StoreEntries
    private let log: ArchiveLog
    private let state = Locked(false)

    /// Entries come faster than a commit each is worth: after a small batch it waits so long for more.
    private static let gathering = Duration.milliseconds(50)
    private static let smallBatch = 200

    init(
        reader: EventLogReader,
        leadership: ArchiveLeadership,
        database: EventDatabase,
        store: ArchiveStore,
        entries: StoreEntries,
        log: ArchiveLog
    ) {
        self.reader = reader
        self.leadership = leadership
        self.database = database
        self.store = store
        self.entries = entries
        self.log = log
    }

    /// Whether this replica reads the log.
    var isFollowing: Bool { self.state.withLock { $0 } }

    /// Runs until the service shuts down; the batch under way is finished.
    func run() async {
        await cancelWhenGracefulShutdown {
            var backoff = Backoff()
            while !Task.isCancelled {
                do {
                    try await self.leadership.lead { try await self.follow() }
                    backoff.reset()
                } catch {
                    if Task.isCancelled { return }
                    self.log.interrupted(error)
                    try? await Task.sleep(for: backoff.next())
                }
            }
        }
    }

    /// Returns when reading has to begin again.
    private func follow() async throws {
        let (epoch, beginning) = try await self.database.transaction(cause: Cause()) {
            try await self.store.takeOver(in: $0)
        }
        self.log.following(from: beginning)
        self.state.withLock { $0 = true }
        defer { self.state.withLock { $0 = false } }
        let continuity = Locked(StreamContinuity(beginning))
        let failure = Locked<(any Error)?>(nil)
        try await self.reader.run(from: beginning.start) { batch in
            do {
                return try await self.take(batch, continuity, epoch: epoch)
            } catch {
                // The place is in the database: who begins again begins there.
                failure.withLock { $0 = error }
                return .end
            }
        }
        if let error = failure.withLock({ $0 }) { throw error }
    }

    private func take(
        _ batch: [EventLogEntry],
        _ continuity: Locked<StreamContinuity>,
        epoch: Int64
    ) async throws -> EventLogReader.Verdict {
        // Offsets of a batch follow each other unless the connection was lost in between.
        for part in Self.parts(of: batch) {
            guard let entry = part.first else { continue }
            let first = StreamContinuity.First(
                place: StreamPlace(offset: entry.offset, body: entry.body),
                opensSubscription: entry.isFirst
            )
            switch continuity.withLock({ $0.judge(first, count: part.count) }) {
            case .take(let skipped):
                try await self.entries(Array(part.dropFirst(skipped)), epoch: epoch)
            case .takeAfterGap(let missing, let reason):
                try await self.entries(Array(part), after: .init(reason: reason, missing: missing), epoch: epoch)
            case .reanchor: return .end
            case .beginAnew:
                try await self.beginAnew(epoch: epoch)
                return .end
            }
        }
        if batch.count < Self.smallBatch { try? await Task.sleep(for: Self.gathering) }
        return .next
    }

    private static func parts(of batch: [EventLogEntry]) -> [ArraySlice<EventLogEntry>] {
        var parts: [ArraySlice<EventLogEntry>] = []
        var start = batch.startIndex
        for index in batch.indices.dropFirst() {
            let isNext = batch[index].offset == batch[index - 1].offset + 1 && !batch[index].isFirst
            guard !isNext else { continue }
            parts.append(batch[start..<index])
            start = index
        }
        return parts + [batch[start...]]
    }

    private func beginAnew(epoch: Int64) async throws {
        try await self.database.transaction(cause: Cause()) { transaction in
            try await OpenGap(store: self.store)(.madeAnew, nil, in: transaction)
            try await self.store.advance(to: nil, newest: nil, epoch: epoch, in: transaction)
        }
        self.log.gap(.madeAnew, nil)
    }
}

extension StreamContinuity.Beginning {
    /// Where reading begins: with the anchor, not behind it.
    fileprivate var start: EventLogReader.Start {
        switch self {
        case .never, .anew: .first
        case .after(let place): .offset(place.offset)
        }
    }
}
