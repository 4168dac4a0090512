import Foundation
import Logging
import Metrics
import Postgres
import Primitives
import ServiceLifecycle

/// Runs the jobs of one kind: leases what is due, hands it to the handler, records how it ended.
struct JobRunner: Sendable {
    let definition: JobDefinition
    let database: EventDatabase
    /// Wakes it when there may be a job of its kind.
    let due: WakeSignal
    let logger: Logger

    /// Names this process as the owner of leases; together with the attempt it names the run.
    let owner: UUID
    /// How long it sleeps when nothing wakes it: long where a watch does.
    var idle = Self.poll

    /// How long who looks for due jobs sleeps when nothing was committed.
    static let poll = Duration.milliseconds(500)
    /// How far apart leases begin that bring fewer than a batch holds; a job that is due alone does not wait.
    ///
    /// What is due meanwhile gathers: a lease and an end for each single job would cost more than the job.
    static let pace = Duration.milliseconds(50)

    /// Runs until the service shuts down gracefully; the batches under way are finished first.
    ///
    /// Cancelling it cancels them too.
    func run() async {
        await withGracefulShutdownHandler {
            await self.leaseUntilShutdown()
        } onGracefulShutdown: {
            // It may have just begun to sleep.
            self.due.wake()
        }
    }

    private func leaseUntilShutdown() async {
        await withDiscardingTaskGroup { group in
            let slots = Slots(self.definition.concurrency)
            while !Task.isCancelled && !Task.isShuttingDownGracefully {
                let seen = self.due.generation
                guard await slots.take() else { continue }
                let next = ContinuousClock.now + Self.pace
                let jobs = await self.lease()
                if jobs.isEmpty {
                    slots.giveBack()
                } else {
                    group.addTask {
                        await self.handle(jobs)
                        slots.giveBack()
                    }
                }
                guard jobs.count < self.definition.batch else { continue }
                if jobs.isEmpty {
                    await self.due.wait(after: seen, upTo: self.idle)
                } else {
                    try? await Task.sleep(until: next)
                }
            }
        }
    }

    private func lease() async -> [Job] {
        do {
            // A transaction of its own without BEGIN and COMMIT: one round trip.
            return try await self.database.client.withConnection { connection in
                try await connection.query(
                    """
                    SELECT id, key, subject, payload, attempts, correlation_id, traceparent, lease_until
                    FROM lease_jobs(\(self.definition.kind.rawValue), \(self.owner),
                        \(self.definition.lease / .seconds(1)), \(Int64(self.definition.batch)))
                    """
                )
            }.map { row in
                let (id, key, subject, payload, attempts, correlation, trace, until) = try row.decode(
                    UUID.self,
                    String.self,
                    String?.self,
                    String.self,
                    Int32.self,
                    UUID?.self,
                    String?.self,
                    Date.self
                )
                return Job(
                    id: id,
                    key: key,
                    subject: subject,
                    payload: payload,
                    attempt: Int(attempts),
                    cause: Cause(correlationID: correlation, causationID: id, traceparent: trace),
                    leaseUntil: until,
                    owner: self.owner
                )
            }
        } catch {
            self.logger.warning("jobs not leased", metadata: ["error": "\(BatchProcessor.code(of: error))"])
            try? await Task.sleep(for: Self.poll)
            return []
        }
    }

    private func handle(_ jobs: [Job]) async {
        let start = ContinuousClock.now
        let outcomes = await self.definition.run(jobs)
        precondition(outcomes.count == jobs.count, "a handler must answer for each job")
        self.trace(Array(zip(jobs, outcomes)), took: start.duration(to: .now))
        var backoff = Backoff()
        while true {
            do {
                return try await self.record(Array(zip(jobs, outcomes)))
            } catch {
                // The lease ends by itself: a worker that is stopping leaves the rest to it.
                if Task.isCancelled { return }
                try? await Task.sleep(for: backoff.next())
            }
        }
    }

    /// Traces runs: those of a batch took the same time.
    private func trace(_ results: [(Job, JobOutcome)], took duration: Duration) {
        let kind = self.definition.kind.rawValue
        Metrics.Timer(label: "transfa_job_run_duration_seconds", dimensions: [("kind", kind)])
            .recordMicroseconds(Int64(duration / .microseconds(1)))
        for (job, outcome) in results {
            Metrics.Counter(label: "transfa_job_runs", dimensions: [("kind", kind), ("outcome", outcome.word)])
                .increment()
            self.database.tools.trace(
                "job \(kind)",
                .inside,
                at: job.place,
                took: duration,
                attributes: [
                    "transfa.job.kind": .text(kind), "transfa.job.id": .text(job.id.lowercased),
                    "transfa.job.attempt": .number(Int64(job.attempt)), "transfa.job.outcome": .text(outcome.word),
                ],
                failure: outcome.failure
            )
        }
    }

    private func record(_ results: [(Job, JobOutcome)]) async throws {
        var states: [String] = []
        var reasons: [String?] = []
        var pauses: [Int64] = []
        for (job, outcome) in results {
            switch outcome {
            case .done:
                states.append("done")
                reasons.append(nil)
                pauses.append(0)
            case .again(let reason, let pause):
                states.append("queued")
                reasons.append(reason)
                pauses.append((pause ?? self.pause(after: job.attempt)).wholeMilliseconds)
            case .failed(let reason):
                self.logger.error("job failed", metadata: ["job": "\(job.id)", "reason": "\(reason)"])
                states.append("failed")
                reasons.append(reason)
                pauses.append(0)
            case .cancelled(let reason):
                states.append("cancelled")
                reasons.append(reason)
                pauses.append(0)
            }
        }
        try await self.database.client.withConnection { connection in
            _ = try await connection.execute(
                """
                SELECT end_runs(\(self.owner), \(results.map(\.0.id)), \(results.map { Int64($0.0.attempt) }),
                    \(states), \(reasons), \(pauses))
                """
            )
        }
    }

    private func pause(after attempt: Int) -> Duration {
        Backoff.pause(
            attempt: attempt - 1,
            first: self.definition.firstPause,
            maximum: self.definition.maximumPause
        )
    }
}

extension JobOutcome {
    /// What spans call it.
    fileprivate var word: String {
        switch self {
        case .done: "done"
        case .again: "again"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }

    /// Why the run did not do what it was for; being run again is no failure by itself.
    fileprivate var failure: String? {
        if case .failed(let reason) = self { return reason }
        return nil
    }
}

/// Counts how many batches may still start.
private final class Slots: Sendable {
    private let signal = WakeSignal()
    private let free: Counter

    init(_ count: Int) { self.free = Counter(count) }

    /// False when none became free in time.
    func take() async -> Bool {
        let seen = self.signal.generation
        if self.free.decrementIfPositive() { return true }
        await self.signal.wait(after: seen, upTo: JobRunner.poll)
        return self.free.decrementIfPositive()
    }

    func giveBack() {
        self.free.increment()
        self.signal.wake()
    }
}
