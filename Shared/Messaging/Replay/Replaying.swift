import Foundation
import Logging
import Postgres
import Primitives

/// Handles events again, in batches, as long as there is time; what one batch cannot do is done event by event.
struct Replaying: Sendable {
    /// How one batch is handled, all of it or nothing.
    typealias Attempt = @Sendable ([IncomingEvent]) async throws -> ReplayAnswer

    /// After so long it answers with what it has: whoever asked sends the rest again.
    private static let budget = Duration.seconds(4)
    private static let repeatsAllowed = 3

    /// - Throws: `ReplayProblem.busy` when not even the first event could be handled.
    func callAsFunction(_ events: [IncomingEvent], _ attempt: Attempt) async throws -> ReplayAnswer {
        let deadline = ContinuousClock.now + Self.budget
        var answer = ReplayAnswer()
        var rest = events[...]
        var size = max(1, events.count)
        var repeats = 0
        var backoff = Backoff(maximum: .seconds(1))
        while let first = rest.first, answer.results.isEmpty || ContinuousClock.now < deadline {
            let batch = Array(rest.prefix(size))
            do {
                answer.append(try await attempt(batch))
                rest = rest.dropFirst(batch.count)
                repeats = 0
            } catch {
                try Task.checkCancellation()
                if BatchProcessor.isPassing(error) || Self.isLocked(error) {
                    guard repeats < Self.repeatsAllowed, ContinuousClock.now < deadline else { break }
                    repeats += 1
                    // Fewer events need fewer locks.
                    if Self.isLocked(error) { size = 1 }
                    try await Task.sleep(for: backoff.next())
                } else if batch.count == 1 {
                    answer.results.append(ReplayedEvent(first, .failed, BatchProcessor.code(of: error)))
                    rest = rest.dropFirst()
                } else {
                    size = 1
                }
            }
        }
        if answer.results.isEmpty && !events.isEmpty { throw ReplayProblem.busy }
        return answer
    }

    /// A lock that somebody held for too long (55P03), or a statement that took too long, perhaps for such a lock.
    private static func isLocked(_ error: any Error) -> Bool {
        guard let error = PostgresError.first(in: error) else { return false }
        return error.sqlState == "55P03" || error.isStatementCancelled
    }
}
