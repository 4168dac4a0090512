import Foundation
import Messaging
import Primitives

/// Makes the projection again from the facts, beside the one that people see, and puts it in its place.
///
/// Facts that are heard meanwhile go into both. Stopped at any moment, it goes on where it was.
struct RebuildProjection: Sendable {
    let database: EventDatabase
    let store: RebuildStore
    let facts: FactStore

    /// Facts per transaction: handlers wait for no more than that.
    private static let batch = 200
    /// Transactions per run, so that a run ends long before its lease.
    private static let batchesPerRun = 50

    /// Begins a rebuild; while one is under way, that one.
    func begin() async throws -> Rebuild {
        try await self.database.transaction(cause: Cause()) { transaction in
            let rebuild = try await self.store.begin(in: transaction)
            try await transaction.enqueue(AnalyticsJob.rebuild, key: "\(rebuild.generation)")
            return rebuild
        }
    }

    /// Runs the job, whose key is the generation.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let generation = Int(job.key) else { return .failed(reason: "no_generation") }
        for _ in 0..<Self.batchesPerRun {
            let done = try await self.database.transaction(cause: job.cause) { transaction in
                try await self.step(generation, in: transaction)
            }
            if done { return .done }
        }
        return .again(reason: "under_way", after: .zero)
    }

    private func step(_ generation: Int, in transaction: EventTransaction) async throws -> Bool {
        guard let rebuild = try await self.store.lock(generation, in: transaction) else { return true }
        guard rebuild.finishedAt == nil else {
            return try await self.store.deleteReplaced(by: rebuild, in: transaction) == 0
        }
        let rows = try await self.store.facts(after: rebuild.doneTo, limit: Self.batch, in: transaction)
        guard let last = rows.last else {
            try await self.store.finish(rebuild, in: transaction)
            return false
        }
        try await self.facts.project(try rows.compactMap { try $0.counted() }, in: transaction)
        try await self.store.advance(rebuild, to: last.id, by: rows.count, in: transaction)
        return false
    }
}
