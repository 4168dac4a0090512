import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: asks the provider how a transfer stands that had ended already.
///
/// Needed when money of a transfer of ours comes back as an inbound payment: the provider will call it reversed, and its
/// message about that may be late or lost.
struct CheckTransfer: Sendable {
    let database: EventDatabase
    let store: SubmissionStore
    let provider: any TransferProvider

    /// After so many questions without news a person has to look.
    private static let patience = 12

    /// Runs the job, whose key is the transfer's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let id = UUID(text: job.key) else { return .failed(reason: "malformed_key") }
        let reference = TransferReference.text(of: id)
        guard let found = try await self.provider.transfer(reference: reference, deadline: SubmissionStore.callDeadline)
        else { return .failed(reason: "unknown_to_provider") }
        let verdict = TransferVerdict(found, from: "query")
        guard verdict.outcome == .reversed || verdict.outcome == .failed else {
            return job.attempt < Self.patience
                ? .again(reason: "no_news", after: nil) : .failed(reason: "money_came_back_unexplained")
        }
        try await self.database.transaction(cause: job.cause) { transaction in
            _ = try await self.store.settle([(id, verdict)], in: transaction)
        }
        return .done
    }
}
