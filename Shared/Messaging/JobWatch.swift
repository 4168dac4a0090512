import Logging
import Postgres

/// Wakes the runners whose kinds have jobs that are due.
///
/// Any commit of the service may have made a job. If every runner looked for its own kind then, a service with ten kinds
/// would ask its database ten times for each event that it handles, and find nothing nine times.
struct JobWatch: Sendable {
    let database: EventDatabase
    let committed: WakeSignal
    /// Wakes the runner of each kind.
    let due: [JobKind: WakeSignal]
    let logger: Logger

    /// Runs until cancelled.
    func run() async {
        let kinds = self.due.keys.map(\.rawValue)
        guard !kinds.isEmpty else { return }
        while !Task.isCancelled {
            let seen = self.committed.generation
            let next = ContinuousClock.now + JobRunner.pace
            do {
                for row in try await self.database.client.query("SELECT kinds_due(\(kinds))") {
                    self.due[JobKind(rawValue: try row.decode(String.self))]?.wake()
                }
            } catch {
                if Task.isCancelled { return }
                // The runners look by themselves now and then.
                self.logger.warning("due jobs not looked for", metadata: ["error": "\(BatchProcessor.code(of: error))"])
                try? await Task.sleep(for: JobRunner.poll)
            }
            try? await Task.sleep(until: next)
            await self.committed.wait(after: seen, upTo: JobRunner.poll)
        }
    }
}
