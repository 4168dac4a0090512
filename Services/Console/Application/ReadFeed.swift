import EventLoops
import Foundation

/// Reads the archive forwards, in the order in which events were stored, and waits for new ones.
struct ReadFeed: Sendable {
    let reads: ArchiveReads

    /// A part of the feed.
    struct Page: Sendable {
        let events: [StoredEvent]
        /// Everything up to here was looked at.
        let position: Int64
    }

    /// Too many wait already.
    struct TooManyWaiting: Error {}

    /// Positions that one query looks at: a filter that finds nothing must not read the whole archive at once.
    private static let window: Int64 = 50_000
    private static let windowsPerPage = 20
    private static let poll = Duration.milliseconds(250)
    private static let maximumWaiting = 64

    private let waiting = Locked(0)

    init(reads: ArchiveReads) { self.reads = reads }

    /// Events behind a position; when there are none, waits for some.
    ///
    /// - Throws: `TooManyWaiting`.
    func callAsFunction(
        _ filter: EventFilter,
        after position: Int64,
        limit: Int,
        waiting patience: Duration
    ) async throws -> Page {
        var page = try await self.page(filter, after: position, limit: limit)
        guard page.events.isEmpty, patience > .zero else { return page }
        let hasRoom = self.waiting.withLock { count in
            guard count < Self.maximumWaiting else { return false }
            count += 1
            return true
        }
        guard hasRoom else { throw TooManyWaiting() }
        defer { self.waiting.withLock { $0 -= 1 } }
        let deadline = ContinuousClock.now + patience
        while page.events.isEmpty, ContinuousClock.now < deadline {
            try await Task.sleep(for: Self.poll)
            page = try await self.page(filter, after: page.position, limit: limit)
        }
        return page
    }

    private func page(_ filter: EventFilter, after position: Int64, limit: Int) async throws -> Page {
        // What is stored up to here is committed: positions become visible in their order.
        let head = try await self.reads.head()
        var (from, events) = (position, [StoredEvent]())
        for _ in 0..<Self.windowsPerPage where from < head && events.count < limit {
            let end = min(head, from + Self.window)
            let found = try await self.reads.scan(filter, after: from, upTo: end, limit: limit - events.count)
            let isFull = events.count + found.count >= limit
            events += found
            from = isFull ? found.last?.position ?? end : end
        }
        return Page(events: events, position: from)
    }
}
