import CoreMetrics
import Logging
import Messaging

/// Shows what waits for workers and for people: jobs by state and parked events, of every service that has any.
struct WorkMetrics: GaugeService {
    let operations: MessagingOperations
    let registry: PrometheusRegistry
    let logger: Logger

    static let subject = "jobs and parked events"
    static let interval = Duration.seconds(15)

    /// Counts them.
    func refresh() async throws { self.show(try await self.operations.waitingWork()) }

    /// Sets the gauges.
    func show(_ work: WaitingWork) {
        for (state, count) in [
            ("queued", work.queuedJobs), ("running", work.runningJobs), ("failed", work.failedJobs),
        ] {
            self.registry.makeMeter(label: "transfa_jobs", dimensions: [("state", state)]).set(count)
        }
        self.registry.makeMeter(label: "transfa_jobs_oldest_due_seconds", dimensions: []).set(work.oldestDueSeconds)
        self.registry.makeMeter(label: "transfa_parked_subjects", dimensions: []).set(work.parkedSubjects)
        self.registry.makeMeter(label: "transfa_parked_events", dimensions: []).set(work.parkedEvents)
        self.registry.makeMeter(label: "transfa_parked_oldest_seconds", dimensions: []).set(work.oldestParkedSeconds)
    }
}
