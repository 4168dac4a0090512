import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives

/// Job: applies what the provider's messages say about transfers, many in one go.
///
/// A message is a hint: whoever has the webhooks' secret can write one. What gives money back, and what other people
/// are paid from, counts when the provider agrees, asked by our reference. A hint is not lost: it is asked about until
/// the provider has answered.
///
/// A message about an id we do not know yet waits: the answer to our own order, which brings the id, may still be on
/// its way. One that stays unknown is about somebody else's transfer. One about a transfer that a restore has left in
/// doubt waits for the question by reference, which also says where the money went.
struct ApplyTransferFacts: Sendable {
    let database: EventDatabase
    let store: SubmissionStore
    let provider: any TransferProvider
    /// Bounds what is asked of the provider because a message says so.
    let repeats: AnchorRepeats
    let clock: any TimeSource

    /// A message about a transfer of ours.
    private struct Hint: Sendable {
        let index: Int
        /// Whether a message that the provider does not confirm may still be confirmed.
        let mayWait: Bool
        let id: UUID
        var verdict: TransferVerdict
        /// What becomes of the job when that is applied.
        var outcome = JobOutcome.done
    }

    /// How long a message may wait for what proves it.
    ///
    /// Runs do not count: many end without a question, as while the provider is away.
    private static let patience = Duration.seconds(3600)
    private static let recoveryPause = Duration.seconds(10)
    /// The time a question may take, while other messages wait.
    private static let deadline = Duration.seconds(5)

    /// Runs a batch of jobs, whose payloads are the facts.
    func callAsFunction(_ jobs: [Job]) async throws -> [JobOutcome] {
        var outcomes = [JobOutcome](repeating: .done, count: jobs.count)
        var proven: [Hint] = []
        var doubted: [Hint] = []
        let facts = try jobs.map { try $0.payload(as: ProviderTransferUpdated.self) }
        let now = self.clock.now
        let standings = try await self.store.standings(of: facts, on: self.database)
        for (index, fact) in facts.enumerated() {
            guard let verdict = TransferVerdict(fact) else { continue }
            let mayWait = jobs[index].age(at: now) < Self.patience
            guard let standing = standings.of(fact) else {
                outcomes[index] = Self.unknown(fact, mayWait)
                continue
            }
            guard standing.isNews(verdict.outcome) else { continue }
            let hint = Hint(index: index, mayWait: mayWait, id: standing.id, verdict: verdict)
            if standing.isProven(by: verdict) { proven.append(hint) } else { doubted.append(hint) }
        }
        for (index, outcome) in try await self.settle(proven, jobs[0].cause) { outcomes[index] = outcome }
        guard !doubted.isEmpty else { return outcomes }
        let (answered, waiting) = await self.ask(doubted)
        for (index, outcome) in waiting { outcomes[index] = outcome }
        for (index, outcome) in try await self.settle(answered, jobs[0].cause) { outcomes[index] = outcome }
        return outcomes
    }

    private static func unknown(_ fact: ProviderTransferUpdated, _ mayWait: Bool) -> JobOutcome {
        // Under a reference of ours the provider has a transfer that we do not have: reconciliation shows it.
        if SubmissionStore.Standings.named(fact) != nil { return .done }
        return mayWait ? .again(reason: "transfer_not_known_yet", after: nil) : .cancelled(reason: "not_ours")
    }

    private func settle(_ hints: [Hint], _ cause: Cause) async throws -> [(Int, JobOutcome)] {
        guard !hints.isEmpty else { return [] }
        return try await self.database.transaction(cause: cause) { transaction in
            let doubtful = try await self.store.doubtful(hints.map(\.id), in: transaction)
            let clear = hints.filter { !doubtful.contains($0.id) }
            _ = try await self.store.settle(clear.map { ($0.id, $0.verdict) }, in: transaction)
            return hints.map { hint -> (Int, JobOutcome) in
                let waits = doubtful.contains(hint.id)
                return (hint.index, waits ? .again(reason: "recovering", after: Self.recoveryPause) : hint.outcome)
            }
        }
    }

    // MARK: Questions

    /// Asks the provider about all of them: what it said, and which have to wait.
    private func ask(_ hints: [Hint]) async -> (answered: [Hint], waiting: [(Int, JobOutcome)]) {
        guard await self.provider.isAvailable else {
            return ([], hints.map { ($0.index, .providerUnavailable) })
        }
        return await withTaskGroup(of: (Hint, JobOutcome?).self) { group in
            for hint in hints { group.addTask { await self.ask(hint) } }
            var answered: [Hint] = []
            var waiting: [(Int, JobOutcome)] = []
            for await (hint, outcome) in group {
                if let outcome { waiting.append((hint.index, outcome)) } else { answered.append(hint) }
            }
            // As they came: the ledger applies them in this order.
            return (answered.sorted { $0.index < $1.index }, waiting)
        }
    }

    /// The hint with what the provider says instead; or why it has to wait.
    private func ask(_ hint: Hint) async -> (Hint, JobOutcome?) {
        guard self.repeats.take() else { return (hint, .tooManyRepeats) }
        do {
            let reference = TransferReference.text(of: hint.id)
            guard let found = try await self.provider.transfer(reference: reference, deadline: Self.deadline) else {
                return (hint, Self.unconfirmed(hint))
            }
            var answer = hint
            answer.verdict = TransferVerdict(found, from: "query")
            // What came back has arrived before.
            let agrees = answer.verdict.outcome == hint.verdict.outcome || answer.verdict.outcome == .reversed
            answer.outcome = agrees ? .done : Self.unconfirmed(hint)
            return (answer, nil)
        } catch {
            return (hint, .again(reason: "provider_not_answering", after: nil))
        }
    }

    /// The provider does not say so, or not yet: in the end people look at who does.
    private static func unconfirmed(_ hint: Hint) -> JobOutcome {
        hint.mayWait ? .again(reason: "not_confirmed", after: nil) : .failed(reason: "provider_does_not_confirm")
    }
}
