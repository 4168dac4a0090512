import Messaging
import Primitives

/// Job: credits money from outside, once per payment of the provider.
struct CreditWallets: Sendable {
    let database: EventDatabase
    let store: SubmissionStore

    /// Runs a batch of jobs, whose payloads are the credits.
    func callAsFunction(_ jobs: [Job]) async -> [JobOutcome] {
        do {
            let credits = try jobs.map { try $0.payload(as: WalletCredit.self) }
            return try await self.database.transaction(cause: jobs[0].cause) { transaction in
                let results = try await self.store.credit(credits, in: transaction)
                var outcomes: [JobOutcome] = []
                for result in results {
                    switch result.result {
                    case "unknown_account": outcomes.append(.again(reason: "account_not_known_yet", after: nil))
                    case "matched":
                        // Money of a transfer of ours that came back: the provider says how it stands.
                        if let id = result.transaction {
                            try await transaction.requeue(
                                TransactionJob.check,
                                key: id.lowercased,
                                subject: id.lowercased
                            )
                        }
                        outcomes.append(.done)
                    default: outcomes.append(.done)
                    }
                }
                return outcomes
            }
        } catch {
            return jobs.map { _ in .again(reason: "database", after: .milliseconds(500)) }
        }
    }
}
