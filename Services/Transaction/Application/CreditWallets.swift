import Messaging

/// Job: credits money from outside, once per payment of the provider.
struct CreditWallets: Sendable {
    let database: EventDatabase
    let store: SubmissionStore

    /// Runs a batch of jobs, whose payloads are the credits.
    func callAsFunction(_ jobs: [Job]) async throws -> [JobOutcome] {
        let credits = try jobs.map { try $0.payload(as: WalletCredit.self) }
        let outcomes = try await self.database.transaction(cause: jobs[0].cause) { transaction in
            let results = try await self.store.credit(credits, in: transaction)
            var outcomes: [JobOutcome] = []
            for result in results {
                switch result.result {
                case "unknown_account": outcomes.append(Self.notKnownYet)
                case "recovering": outcomes.append(Self.notBookedYet)
                case "matched":
                    // Money of a transfer of ours that came back: the provider says how it stands.
                    if let id = result.transaction { try await transaction.requeueCheck(of: id) }
                    outcomes.append(.done)
                default: outcomes.append(.done)
                }
            }
            return outcomes
        }
        return await self.held(outcomes, of: credits, jobs)
    }

    /// What nobody has an account for is booked in suspense, if account has said that nobody will.
    ///
    /// Each in a transaction of its own: its locks come after none of another's.
    private func held(_ outcomes: [JobOutcome], of credits: [WalletCredit], _ jobs: [Job]) async -> [JobOutcome] {
        var outcomes = outcomes
        for index in outcomes.indices {
            guard outcomes[index] == Self.notKnownYet, credits[index].isUnmatched == true else { continue }
            do {
                try await self.database.transaction(cause: jobs[index].cause) { transaction in
                    try await self.store.hold(credits[index], in: transaction)
                }
                outcomes[index] = .done
            } catch {
                outcomes[index] = .repeated(because: error)
            }
        }
        return outcomes
    }

    private static let notKnownYet = JobOutcome.again(reason: "account_not_known_yet", after: nil)
    /// Money that may be of a transfer of ours which came back, and which a recovery has still to book.
    private static let notBookedYet = JobOutcome.again(reason: "recovering", after: .seconds(10))
}
