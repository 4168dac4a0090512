import Primitives

/// Keeps one impossible item of a batch from stopping the others.
public enum JobIsolation {
    /// Whether the same may succeed when it is repeated: the error says nothing about the items themselves.
    public static func isPassing(_ error: any Error) -> Bool { BatchProcessor.isPassing(error) }

    /// Runs a batch; when one of its jobs spoils it for all, each job by itself.
    ///
    /// What all jobs meet, such as a lost connection, is no reason to run them one by one. They run again soon, each after
    /// a pause of its own. One that fails alone waits longer each time, so that it is not for ever at the head of what is
    /// due. What half the lease has no time for is due again at once.
    static func run(_ jobs: [Job], within lease: Duration, _ run: JobDefinition.Run) async -> [JobOutcome] {
        let start = ContinuousClock.now
        do {
            return try await run(jobs)
        } catch {
            guard jobs.count > 1, !self.isPassing(error) else { return jobs.map { self.outcome(of: $0, error) } }
        }
        var outcomes: [JobOutcome] = []
        for job in jobs {
            guard start.duration(to: .now) < lease / 2 else {
                outcomes.append(.again(reason: "not_reached", after: .zero))
                continue
            }
            do {
                outcomes += try await run([job])
            } catch {
                outcomes.append(self.outcome(of: job, error))
            }
        }
        return outcomes
    }

    private static func outcome(of job: Job, _ error: any Error) -> JobOutcome {
        guard self.isPassing(error) else { return .repeated(because: error) }
        let pause = Backoff.pause(attempt: job.attempt - 1, first: .milliseconds(200), maximum: .seconds(5))
        return .again(reason: BatchProcessor.code(of: error), after: pause)
    }
}

extension JobOutcome {
    /// How a run ended that threw: as the error says, else the job runs again after its kind's own pause.
    public static func repeated(because error: any Error) -> JobOutcome {
        (error as? any JobError)?.jobOutcome ?? .again(reason: BatchProcessor.code(of: error), after: nil)
    }
}
