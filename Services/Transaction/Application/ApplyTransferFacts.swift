import Contracts
import Foundation
import Messaging
import Primitives

/// Job: applies what the provider's messages say about transfers, many in one go.
///
/// A message about an id we do not know yet waits: the answer to our own order, which brings the id, may still be on its
/// way. One that stays unknown is about somebody else's transfer. One about a transfer that a restore has left in doubt waits
/// for the question by reference, which also says where the money went.
struct ApplyTransferFacts: Sendable {
    let database: EventDatabase
    let store: SubmissionStore

    private static let patience = 12
    private static let recoveryPause = Duration.seconds(10)

    /// Runs a batch of jobs, whose payloads are the facts.
    func callAsFunction(_ jobs: [Job]) async -> [JobOutcome] {
        var outcomes = [JobOutcome](repeating: .done, count: jobs.count)
        var verdicts: [(job: Int, id: UUID, verdict: TransferVerdict)] = []
        do {
            for (index, job) in jobs.enumerated() {
                let fact = try job.payload(as: ProviderTransferUpdated.self)
                guard let verdict = TransferVerdict(fact) else { continue }
                if let id = try await self.transaction(of: fact) {
                    verdicts.append((index, id, verdict))
                } else {
                    outcomes[index] =
                        job.attempt < Self.patience
                        ? .again(reason: "transfer_not_known_yet", after: nil) : .cancelled(reason: "not_ours")
                }
            }
            let proven = verdicts
            let waiting = try await self.database.transaction(cause: jobs[0].cause) { transaction in
                let doubtful = try await self.store.doubtful(proven.map(\.id), in: transaction)
                let clear = proven.filter { !doubtful.contains($0.id) }
                _ = try await self.store.settle(clear.map { ($0.id, $0.verdict) }, in: transaction)
                return proven.filter { doubtful.contains($0.id) }.map(\.job)
            }
            for index in waiting { outcomes[index] = .again(reason: "recovering", after: Self.recoveryPause) }
            return outcomes
        } catch {
            return jobs.map { _ in .again(reason: "database", after: .milliseconds(200)) }
        }
    }

    private func transaction(of fact: ProviderTransferUpdated) async throws -> UUID? {
        if let reference = fact.reference, let id = TransferReference.transaction(in: reference) { return id }
        return try await self.store.transaction(providerID: fact.anchorTransferID, on: self.database)
    }
}
