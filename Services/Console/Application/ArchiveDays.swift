import EventLoops
import Foundation
import Messaging
import Primitives

/// Sees to it that days have partitions before their events come, and drops whole days when their time is over.
struct ArchiveDays: Sendable {
    let store: ArchiveStore
    let database: EventDatabase
    let clock: any TimeSource
    let log: ArchiveLog
    /// How many days before today are kept.
    let retention: Int

    private let known = Locked<Set<Int>>([])

    init(store: ArchiveStore, database: EventDatabase, clock: any TimeSource, log: ArchiveLog, retention: Int) {
        self.store = store
        self.database = database
        self.clock = clock
        self.log = log
        self.retention = retention
    }

    /// Days ahead that have partitions.
    private static let ahead = 8
    private static let othersAtOnce = 10_000

    private var today: Int { Int(self.clock.now.millisecondsSince1970 / 86_400_000) }

    /// Makes the partitions that these events need and that are not known to be there.
    ///
    /// A day that is not kept, or far ahead, gets none: an id can claim any day, and its event lies among the others.
    func prepare(for events: [ArchivedEvent]) async throws {
        let kept = self.kept
        let known = self.known.withLock { $0 }
        let new = Set(events.map(\.day)).filter { kept.contains($0) && !known.contains($0) }
        guard !new.isEmpty else { return }
        try await self.database.transaction(cause: Cause()) { try await self.store.ensure(new, in: $0) }
        self.known.withLock { $0 = $0.filter(kept.contains).union(new) }
    }

    private var kept: ClosedRange<Int> {
        let today = self.today
        return today - self.retention...today + Self.ahead
    }

    /// Makes the partitions of today and the days ahead; part of a schedule.
    func makeAhead(in transaction: EventTransaction) async throws {
        let today = self.today
        try await self.store.ensure(today - 1...today + Self.ahead, in: transaction)
    }

    /// Drops what is no longer kept, the oldest first, each day in a transaction of its own.
    func dropOld() async throws {
        let oldest = self.kept.lowerBound
        let gone = try await self.store.days(on: self.database).filter { $0.number < oldest }
        for (index, day) in gone.enumerated() {
            try await self.database.transaction(cause: Cause()) { try await self.store.drop(day, in: $0) }
            self.known.withLock { _ = $0.remove(day.number) }
            self.log.dropped(day, left: gone.count - index - 1)
        }
        try await self.dropOthers()
    }

    private func dropOthers() async throws {
        let moment = self.clock.now.addingTimeInterval(Double(self.retention) * -86_400)
        let others = try await self.database.transaction(cause: Cause()) {
            try await self.store.forgetOthers(before: moment, limit: Self.othersAtOnce, in: $0)
        }
        if others > 0 { self.log.forgotOthers(others) }
    }
}
