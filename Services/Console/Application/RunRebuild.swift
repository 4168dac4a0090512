import Foundation
import Messaging
import Primitives

/// Part of the job of a replay: sends archived events to a service that makes a projection of them beside the live one, and
/// has it put in its place when it has everything.
///
/// The place is committed after the service's answer, and what is sent twice takes effect once. Events are read in the order
/// in which they were stored; the end is where nothing is left and the service misses nothing that it has handled.
struct RunRebuild: Sendable {
    let database: EventDatabase
    let store: ReplayStore
    let archive: ArchiveReads
    let targets: any RebuildTargets
    let clock: any TimeSource

    /// Well below the lease, together with one call.
    private static let slice = Duration.seconds(4)
    private static let page = 500
    /// Positions that one query looks at.
    private static let window: Int64 = 50_000
    /// The service has handled events that do not come: the archive is behind for a while, or lacks them for good.
    private static let patience: TimeInterval = 600

    /// Goes on for a while.
    func callAsFunction(_ replay: Replay) async throws -> JobOutcome {
        guard let rebuild = replay.rebuild else { return .failed(reason: "no_projection") }
        do {
            guard replay.state == .running else {
                try await self.giveUp(rebuild)
                return .done
            }
            return try await self.goOn(rebuild, rate: replay.order.rate)
        } catch RebuildTargetProblem.unavailable {
            try await self.store.note("target_unavailable", of: replay, on: self.database)
            return .again(reason: "target_unavailable", after: nil)
        } catch RebuildTargetProblem.noAddress {
            return try await self.fail(replay, rebuild, "no_address")
        } catch RebuildTargetProblem.refused(let code) {
            return try await self.fail(replay, rebuild, code)
        }
    }

    private func goOn(_ rebuild: RebuildOrder, rate: Int) async throws -> JobOutcome {
        let begin = ContinuousClock.now
        guard let projection = try await self.targets.projection(rebuild.projection, of: rebuild.service) else {
            throw RebuildTargetProblem.refused("unknown_projection")
        }
        let generation = try await self.targets.begin(rebuild, archiveFrom: try await self.archive.beginning())
        var place = try await self.store.place(of: rebuild, generation, on: self.database)
        var sent = 0
        while let replay = try await self.store.find(rebuild.replay, on: self.database), replay.state == .running {
            let page = try await self.read(projection.types, after: place, limit: min(rate, Self.page))
            if !page.bodies.isEmpty {
                let applied = try await self.targets.send(page.bodies, rebuild)
                CrashPoint.reach("before_replay_place")
                let isMine = try await self.store.advance(
                    rebuild,
                    generation,
                    from: place,
                    to: page.position,
                    sent: page.bodies.count,
                    applied: applied,
                    on: self.database
                )
                guard isMine else { return .again(reason: "under_way", after: .zero) }
            } else if page.position == place {
                return try await self.end(replay, rebuild)
            }
            place = page.position
            sent += page.bodies.count
            let rest = begin + .seconds(1) * (Double(sent) / Double(rate)) - ContinuousClock.now
            let left = begin + Self.slice - ContinuousClock.now
            if left <= max(rest, .zero) { return .again(reason: "under_way", after: max(rest, .zero)) }
            if rest > .zero { try await Task.sleep(for: rest) }
        }
        try await self.giveUp(rebuild)
        return .done
    }

    /// What comes behind a position, and up to where was looked.
    private func read(
        _ types: [String],
        after place: Int64,
        limit: Int
    ) async throws -> (bodies: [String], position: Int64) {
        var filter = EventFilter()
        filter.types = types
        let end = min(try await self.archive.head(), place + Self.window)
        guard end > place else { return ([], place) }
        let events = try await self.archive.scan(filter, after: place, upTo: end, limit: limit)
        return (events.map(\.body), events.count == limit ? events.last?.position ?? end : end)
    }

    private func end(_ replay: Replay, _ rebuild: RebuildOrder) async throws -> JobOutcome {
        let missing = try await self.targets.finish(rebuild)
        guard missing > 0 else {
            CrashPoint.reach("after_rebuild_swap")
            try await self.store.end(replay, .finished, on: self.database)
            return .done
        }
        let since = try await self.store.behind(replay, on: self.database)
        if try await self.isLost(since, replay) { return try await self.fail(replay, rebuild, "archive_incomplete") }
        return .again(reason: "archive_behind", after: .seconds(1))
    }

    /// Whether what is missing does not come any more: for long nothing has come at all, or the archive has read the log
    /// beyond the moment when it was missed first, and fills no gap.
    private func isLost(_ since: Date, _ replay: Replay) async throws -> Bool {
        let now = self.clock.now
        guard now.timeIntervalSince(since) > Self.patience else { return false }
        if replay.error == "archive_behind", now.timeIntervalSince(replay.updatedAt) > Self.patience { return true }
        let status = try await self.archive.status()
        guard status.openGaps == 0, let newest = status.newestTime else { return false }
        return newest > since
    }

    private func fail(_ replay: Replay, _ rebuild: RebuildOrder, _ reason: String) async throws -> JobOutcome {
        try await self.store.end(replay, .failed, error: reason, on: self.database)
        // Else whatever the service hears would go on to be written twice.
        try? await self.giveUp(rebuild)
        return .done
    }

    /// Lets the service forget what it has made; one that has ended is left as it is.
    private func giveUp(_ rebuild: RebuildOrder) async throws {
        do {
            try await self.targets.cancel(rebuild)
        } catch RebuildTargetProblem.refused {
            return
        }
    }
}

extension Replay {
    /// What a service is told; nil for another mode.
    var rebuild: RebuildOrder? {
        self.order.projection.map { projection in
            RebuildOrder(
                replay: self.id,
                service: self.order.service,
                projection: projection,
                operatorName: self.operatorName,
                reason: self.reason
            )
        }
    }
}
