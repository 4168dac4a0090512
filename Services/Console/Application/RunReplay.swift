import EventLoops
import Foundation
import Messaging
import Primitives

/// Job: goes on with a replay for a while; its key is the replay's id.
///
/// The place is committed after the service's answer. After a crash of either, the events in between are sent again, and the
/// inbox of the service drops what had taken effect.
struct RunReplay: Sendable {
    let database: EventDatabase
    let store: ReplayStore
    let reads: ReplayReads
    let targets: any ReplayTargets
    /// Goes on with rebuilds.
    var rebuild: RunRebuild?

    /// Well below the lease, together with one call.
    private static let slice = Duration.seconds(4)
    static let lease = Duration.seconds(15)
    private static let batch = 200
    /// In a dry run the rows of a batch stay locked until it is rolled back.
    private static let dryBatch = 50

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key) else { return .failed(reason: "no_replay") }
        let outcome = try await self.goOn(id)
        guard outcome == .done, try await !self.isOver(id, job) else { return outcome }
        return .again(reason: "under_way", after: .zero)
    }

    /// Whether nothing is left to do, and then the job is done: whoever lets the replay go on while a run is about to end
    /// leaves it to that run, or finds the job done and puts it back.
    private func isOver(_ id: UUID, _ job: Job) async throws -> Bool {
        do {
            return try await self.database.transaction(cause: Cause()) { transaction in
                guard try await self.store.lockedState(of: id, in: transaction) != .running else { return false }
                try await job.finish(in: transaction)
                return true
            }
        } catch is LeaseLost {
            // Another run has the job.
            return true
        }
    }

    private func goOn(_ id: UUID) async throws -> JobOutcome {
        let begin = ContinuousClock.now
        var sent = 0
        while true {
            guard let replay = try await self.store.find(id, on: self.database) else { return .done }
            if let rebuild = self.rebuild, replay.order.mode == .rebuild { return try await rebuild(replay) }
            guard replay.state == .running else { return .done }
            let batch = ReplayBatch(try await self.page(of: replay))
            guard !batch.items.isEmpty else {
                try await self.store.end(replay, .finished, on: self.database)
                return .done
            }
            if let outcome = try await self.handle(batch, of: replay) { return outcome }
            sent += batch.items.count
            let rest = begin + .seconds(1) * (Double(sent) / Double(replay.order.rate)) - ContinuousClock.now
            let left = begin + Self.slice - ContinuousClock.now
            if left <= max(rest, .zero) { return .again(reason: "under_way", after: max(rest, .zero)) }
            if rest > .zero { try await Task.sleep(for: rest) }
        }
    }

    private func page(of replay: Replay) async throws -> [ReplayBatch.Item] {
        let order = replay.order
        return try await self.reads.page(
            order.selection,
            order.selection.types(heardBy: order.service),
            after: replay.place,
            upTo: replay.upTo,
            limit: min(order.rate, order.mode == .dryRun ? Self.dryBatch : Self.batch)
        )
    }

    /// How the job ends; nil when it goes on.
    private func handle(_ batch: ReplayBatch, of replay: Replay) async throws -> JobOutcome? {
        let answer: TargetAnswer
        do {
            answer = try await self.targets.handle(batch.items, of: replay)
        } catch ReplayTargetProblem.noAddress {
            return try await self.fail(replay, "no_address")
        } catch ReplayTargetProblem.refused(let status) {
            return try await self.fail(replay, "target_refused_\(status)")
        } catch ReplayTargetProblem.unavailable {
            return try await self.wait(replay, "target_unavailable")
        } catch ReplayTargetProblem.locked {
            return try await self.wait(replay, "target_locked")
        }
        CrashPoint.reach("before_replay_place")
        let (place, progress) = batch.progress(answer)
        guard let place else { return try await self.wait(replay, "target_answered_nothing") }
        let isMine = try await self.store.advance(replay, to: place, progress, on: self.database)
        return isMine ? nil : .done
    }

    private func fail(_ replay: Replay, _ reason: String) async throws -> JobOutcome {
        try await self.store.end(replay, .failed, error: reason, on: self.database)
        return .done
    }

    private func wait(_ replay: Replay, _ reason: String) async throws -> JobOutcome {
        try await self.store.note(reason, of: replay, on: self.database)
        return .again(reason: reason, after: nil)
    }
}
