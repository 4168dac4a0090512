import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport

@testable import ConsoleService

extension ConsoleWorld {
    var replays: ReplayStore { ReplayStore() }
    var replayReads: ReplayReads { ReplayReads(database: self.work) }
    var desk: ReplayDesk {
        ReplayDesk(database: self.work, store: self.replays, reads: self.replayReads, archive: self.reads)
    }

    /// Begins a replay into analytics.
    func replay(
        _ selection: ReplaySelection,
        _ mode: Replay.Mode = .run,
        into service: ServiceName = .analytics,
        rate: Int = 20_000
    ) async throws -> Replay {
        let order = Replay.Order(service: service, mode: mode, effects: .off, rate: rate, selection: selection)
        return try await self.desk.begin(order, by: .grace)
    }

    /// A slice of a replay: what its job does until it ends or is to go on later.
    func slice(_ replay: Replay, _ target: MadeUpTarget) async throws -> JobOutcome {
        let run = RunReplay(database: self.work, store: self.replays, reads: self.replayReads, targets: target)
        return try await self.run(ConsoleJob.replay, replay.id.lowercased) { try await run($0) }
    }

    /// Slices until it has ended; at most so many.
    func finish(_ replay: Replay, _ target: MadeUpTarget, slices: Int = 50) async throws -> Replay {
        for _ in 0..<slices {
            if try await self.slice(replay, target) == .done { break }
        }
        return try await self.found(replay)
    }

    func found(_ replay: Replay) async throws -> Replay {
        guard let found = try await self.replays.find(replay.id, on: self.work) else {
            throw ReplayDesk.Refusal.unknown
        }
        return found
    }

    /// Stores events of transfers that analytics hears; their ids in order.
    func transfers(_ count: Int, correlation: UUID? = nil) async throws -> [UUID] {
        let made = (0..<count).map { _ in ids.next() }
        let bodies = try made.map { try envelope($0, type: "transaction.completed", correlation: correlation) }
        try await self.take(bodies, from: UInt64(try await self.reads.head()))
        return made
    }
}

extension ReplaySelection {
    /// Everything since yesterday.
    static var recent: ReplaySelection { ReplaySelection(from: Date(timeIntervalSinceNow: -86_400)) }
}
