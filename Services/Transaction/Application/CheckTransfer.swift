import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: asks the provider how a transfer stands that had ended already.
///
/// Needed when money of a transfer of ours comes back as an inbound payment, and when the provider's books say that it
/// did not last: the provider will call it reversed, and its message about that may be late or lost.
struct CheckTransfer: Sendable {
    let database: EventDatabase
    let store: SubmissionStore
    let provider: any TransferProvider

    /// Runs the job, whose key is the transfer's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key) else { return .failed(reason: "malformed_key") }
        let reference = TransferReference.text(of: id)
        guard let found = try await self.provider.transfer(reference: reference, deadline: SubmissionStore.callDeadline)
        else { return .failed(reason: "unknown_to_provider") }
        let verdict = TransferVerdict(found, from: "query")
        guard verdict.outcome == .reversed || verdict.outcome == .failed else {
            // By the payment, not by the questions: a second one that comes back has the whole patience again.
            switch try await self.store.mayBeReversed(id, on: self.database) {
            case .some(true): return .again(reason: "no_news", after: nil)
            case .some(false): return .failed(reason: "money_came_back_unexplained")
            // Reconciliation has asked: the provider lists the transfer otherwise than it answers.
            case .none: return .failed(reason: "provider_disagrees_with_its_list")
            }
        }
        try await self.database.transaction(cause: job.cause) { transaction in
            _ = try await self.store.settle([(id, verdict)], in: transaction)
        }
        return .done
    }
}
