import Foundation
import Logging
import Postgres
import Primitives

/// Work that happens by the clock, on one replica at a time.
public struct Schedule: Sendable {
    /// Unique in the service.
    public let name: String
    let interval: Duration
    let run: @Sendable (EventTransaction) async throws -> Void

    /// Plans work.
    ///
    /// - Parameters:
    ///   - name: Unique in the service.
    ///   - interval: Runs are at least so far apart, over all replicas.
    ///   - run: Runs in the transaction that records the run.
    public init(
        _ name: String,
        every interval: Duration,
        run: @escaping @Sendable (EventTransaction) async throws -> Void
    ) {
        self.name = name
        self.interval = interval
        self.run = run
    }
}

/// Runs schedules.
///
/// The row of a schedule is its lock: two replicas never run it at once or twice in a row.
struct Scheduler: Sendable {
    let schedules: [Schedule]
    let database: EventDatabase
    let logger: Logger

    func run() async {
        await withDiscardingTaskGroup { group in
            for schedule in self.schedules {
                group.addTask { await self.repeatedly(schedule) }
            }
        }
    }

    private func repeatedly(_ schedule: Schedule) async {
        while !Task.isCancelled {
            do {
                try await self.once(schedule)
            } catch {
                if Task.isCancelled { return }
                self.logger.warning(
                    "schedule failed",
                    metadata: ["schedule": "\(schedule.name)", "error": "\(BatchProcessor.code(of: error))"]
                )
            }
            try? await Task.sleep(for: min(schedule.interval, .seconds(60)))
        }
    }

    private func once(_ schedule: Schedule) async throws {
        let seconds = schedule.interval / .seconds(1)
        try await self.database.transaction(cause: Cause()) { transaction in
            try await transaction.stage(
                "INSERT INTO schedules (name) VALUES (\(schedule.name)) ON CONFLICT (name) DO NOTHING"
            )
            // A tenth of tolerance: timers are not exact, and a run must not slip by a whole interval.
            let due = try await transaction.query(
                """
                UPDATE schedules SET last_run_at = clock_timestamp()
                WHERE name = \(schedule.name)
                    AND last_run_at <= clock_timestamp() - \(seconds * 0.9) * interval '1 second'
                RETURNING name
                """
            )
            guard !due.isEmpty else { return }
            try await schedule.run(transaction)
        }
    }
}
