import Contracts
import Foundation
import Messaging
import Primitives

/// Job: fetches from the outbox of one service what the event log had lost; its key is `<gap>/<service>`.
///
/// Pages and how far they go are one commit, so it goes on where it was. What the archive has already stays as it is.
struct BackfillArchive: Sendable {
    let database: EventDatabase
    let store: ArchiveStore
    let days: ArchiveDays
    let outboxes: any Outboxes
    let log: ArchiveLog

    /// Whose outboxes there are: our own events come with the log and are in our own outbox.
    static let services = ServiceName.allCases

    private static let pagesPerRun = 20
    /// A run ends long before its lease, however slow an outbox is: two at once would put the place back.
    private static let longestRun = Duration.seconds(60)

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        let parts = job.key.split(separator: "/")
        guard parts.count == 2, let gap = Int64(parts[0]), let service = ServiceName(rawValue: String(parts[1])) else {
            return .failed(reason: "no_gap")
        }
        var total = (seen: 0, added: 0)
        let end = ContinuousClock.now + Self.longestRun
        for _ in 0..<Self.pagesPerRun where ContinuousClock.now < end {
            let place = try await self.database.transaction(cause: job.cause) {
                try await self.store.backfill(of: gap, service.rawValue, in: $0)
            }
            guard let place else { return .done }
            let page: OutboxPage
            do {
                page = try await self.outboxes.events(of: service, after: place)
            } catch OutboxProblem.noAddress {
                return .failed(reason: "no_address")
            } catch OutboxProblem.unavailable {
                return .again(reason: "unavailable", after: nil)
            }
            let added = try await self.add(page, gap, service, job)
            total = (total.seen + page.envelopes.count, total.added + added)
            if page.next == nil {
                self.log.filled(service.rawValue, gap: gap, seen: total.seen, added: total.added)
                return .done
            }
        }
        return .again(reason: "under_way", after: .zero)
    }

    private func add(_ page: OutboxPage, _ gap: Int64, _ service: ServiceName, _ job: Job) async throws -> Int {
        // What is no event, or another's, has no place in an outbox; if it is there all the same, the log had it too.
        let events = page.envelopes.compactMap { try? ArchivedEvent(bytes: $0) }.filter {
            $0.source == service.rawValue
        }
        try await self.days.prepare(for: events)
        return try await self.database.transaction(cause: job.cause) { transaction in
            let added = try await self.store.append(events, from: .outbox, in: transaction)
            try await self.store.advance(
                gap,
                service.rawValue,
                to: page.next,
                seen: page.envelopes.count,
                added: added,
                in: transaction
            )
            return added
        }
    }
}
