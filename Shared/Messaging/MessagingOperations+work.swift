import Postgres

/// What waits in a service for workers and for people.
public struct WaitingWork: Sendable, Hashable {
    /// Jobs that wait for their time or for a worker.
    public let queuedJobs: Int64
    /// Jobs that a worker has leased.
    public let runningJobs: Int64
    /// Jobs that wait for somebody to decide.
    public let failedJobs: Int64
    /// For how long the job that has been due the longest has waited, by the database's clock.
    public let oldestDueSeconds: Double
    /// Subjects whose events are parked.
    public let parkedSubjects: Int64
    /// Events that are parked or wait behind one that is.
    public let parkedEvents: Int64
    /// For how long the longest parked subject has been.
    public let oldestParkedSeconds: Double
}

extension MessagingOperations {
    /// What waits for workers and for people; only what waits is read, however long the tables are.
    public func waitingWork() async throws -> WaitingWork {
        let row = try await self.database.client.query(
            """
            SELECT q.jobs, (SELECT count(*) FROM jobs WHERE state = 'running'),
                (SELECT count(*) FROM jobs WHERE state = 'failed'), q.age, p.subjects,
                (SELECT count(*) FROM parked_events), p.age
            FROM (SELECT count(*) AS jobs,
                    coalesce(greatest(extract(epoch FROM transfa_now() - min(due_at)), 0), 0)::float8 AS age
                FROM jobs WHERE state = 'queued') q,
                (SELECT count(*) AS subjects,
                    coalesce(greatest(extract(epoch FROM transfa_now() - min(parked_at)), 0), 0)::float8 AS age
                FROM parked_keys) p
            """
        ).first
        let none: (Int64, Int64, Int64, Double, Int64, Int64, Double) = (0, 0, 0, 0, 0, 0, 0)
        let (queued, running, failed, due, subjects, events, parked) =
            try row?.decode(
                Int64.self,
                Int64.self,
                Int64.self,
                Double.self,
                Int64.self,
                Int64.self,
                Double.self
            ) ?? none
        return WaitingWork(
            queuedJobs: queued,
            runningJobs: running,
            failedJobs: failed,
            oldestDueSeconds: due,
            parkedSubjects: subjects,
            parkedEvents: events,
            oldestParkedSeconds: parked
        )
    }
}
