import Contracts
import EventLoops
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import ConsoleService

/// A service that has handled an event which the archive will never have.
private final class LackingTarget: RebuildTargets {
    private let counts = Locked((applied: 0, cancelled: 0))
    private let whenCancelled: @Sendable () async throws -> Void

    init(whenCancelled: @escaping @Sendable () async throws -> Void = {}) { self.whenCancelled = whenCancelled }

    /// How many events took effect.
    var applied: Int { self.counts.withLock { $0.applied } }
    /// How often it was told to give up.
    var cancelled: Int { self.counts.withLock { $0.cancelled } }

    func projection(_ name: String, of service: ServiceName) async throws -> RemoteProjection? {
        RemoteProjection(name: name, types: ["transaction.completed"], since: "2026-01-01T00:00:00.000Z")
    }

    func begin(_ rebuild: RebuildOrder, archiveFrom beginning: Date?) async throws -> Int { 2 }

    func send(_ envelopes: [String], _ rebuild: RebuildOrder) async throws -> Int {
        self.counts.withLock { $0.applied += envelopes.count }
        return envelopes.count
    }

    func finish(_ rebuild: RebuildOrder) async throws -> Int { 1 }

    func cancel(_ rebuild: RebuildOrder) async throws {
        self.counts.withLock { $0.cancelled += 1 }
        try await self.whenCancelled()
    }
}

extension ConsoleWorld {
    /// Begins to make the money of analytics again.
    fileprivate func rebuild() async throws -> Replay {
        var selection = ReplaySelection()
        selection.types = ["transaction.completed"]
        let order = Replay.Order(
            service: .analytics,
            mode: .rebuild,
            effects: .off,
            rate: 20_000,
            selection: selection,
            projection: "money"
        )
        return try await self.desk.begin(order, by: .grace)
    }

    fileprivate func slice(_ replay: Replay, _ target: LackingTarget) async throws -> JobOutcome {
        let run = RunReplay(
            database: self.work,
            store: self.replays,
            reads: self.replayReads,
            targets: MadeUpTarget(),
            rebuild: RunRebuild(
                database: self.work,
                store: self.replays,
                archive: self.reads,
                targets: target,
                clock: self.clock
            )
        )
        return try await self.run(ConsoleJob.replay, replay.id.lowercased) { try await run($0) }
    }

    /// Stores an event that was published some time from now.
    fileprivate func stores(after offset: Duration) async throws {
        let body = try envelope(id(after: offset), type: "transaction.completed")
        try await self.take([body], from: UInt64(try await self.reads.head()))
    }
}

@Suite("Rebuilds")
struct RebuildTests {
    @Test("what the archive lacks for good ends a rebuild while other events come; one that reads on is waited for")
    func incomplete() async throws {
        try await withConsole { world in
            let target = LackingTarget()
            try await world.stores(after: .seconds(-60))
            let replay = try await world.rebuild()
            let behind = JobOutcome.again(reason: "archive_behind", after: .seconds(1))
            #expect(try await world.slice(replay, target) == behind)
            world.clock.advance(by: .seconds(610))
            // The archive is still at what was published before the event was missed.
            try await world.stores(after: .seconds(-50))
            #expect(try await world.slice(replay, target) == behind)
            try await world.stores(after: .seconds(700))
            #expect(try await world.slice(replay, target) == .done)
            let end = try await world.found(replay)
            #expect(end.state == .failed && end.error == "archive_incomplete")
            #expect(target.applied == 3 && target.cancelled == 1)
        }
    }

    @Test("who lets a rebuild go on while it is being given up leaves no replay behind that runs without a job")
    func resumed() async throws {
        try await withConsole { world in
            let replay = try await world.rebuild()
            _ = try await world.desk.cancel(replay.id, by: .grace)
            let target = LackingTarget { _ = try await world.desk.resume(replay.id, by: .grace) }
            #expect(try await world.slice(replay, target) == .again(reason: "under_way", after: .zero))
            let found = try await world.found(replay)
            #expect(found.state == .running && target.cancelled == 1)
            _ = try await world.desk.cancel(replay.id, by: .grace)
            #expect(try await world.slice(replay, LackingTarget()) == .done)
            #expect(try await world.desk.resume(replay.id, by: .grace).state == .running)
            #expect(try await world.number("SELECT count(*) FROM jobs WHERE state = 'queued'") == 1)
        }
    }

    @Test("a page counts for the generation that it was read for, and not for the next one")
    func generations() async throws {
        try await withConsole { world in
            let replay = try await world.rebuild()
            let rebuild = try #require(replay.rebuild)
            let store = world.replays
            #expect(try await store.place(of: rebuild, 2, on: world.work) == 0)
            #expect(try await store.advance(rebuild, 2, from: 0, to: 500, sent: 9, applied: 9, on: world.work))
            #expect(try await store.place(of: rebuild, 2, on: world.work) == 500)
            // It was given up and begun anew while a page of the former was on its way.
            #expect(try await store.place(of: rebuild, 3, on: world.work) == 0)
            let isLate = try await store.advance(rebuild, 2, from: 500, to: 900, sent: 9, applied: 9, on: world.work)
            #expect(!isLate)
            #expect(try await store.place(of: rebuild, 3, on: world.work) == 0)
        }
    }
}
