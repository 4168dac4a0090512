import AnchorClient
import Contracts
import Messaging
import Primitives

/// Job: opens the deposit account of a verified user, once, whatever answer gets lost.
///
/// The provider has no idempotency for accounts: so every attempt but the first, and the first too once this database was
/// restored, looks among the customer's accounts first, and after a call whose answer was lost it leaves the provider the time to finish.
struct OpenAccount: Sendable {
    let database: EventDatabase
    let accounts: AccountStore
    let provider: any AccountProvider
    let calls: ProviderCalls

    /// How long a call whose answer was lost may still be carried out.
    static let settlingTime = Duration.seconds(15)

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let user = UserID(text: job.key),
            let wallet = try await self.accounts.find(user, as: nil, on: self.database),
            let customer = wallet.anchorCustomerID, let type = wallet.accountType
        else { return .again(reason: "customer_unknown", after: nil) }
        guard !wallet.isErased else { throw AccountError.erased }
        if let known = wallet.anchorAccountID {
            try await self.finish(job, user: user, accountID: known)
            return .done
        }
        let wasRestored = try await self.accounts.wasRestored(on: self.database)
        if job.attempt > 1 || wasRestored, let known = try await self.existing(customer, of: user) {
            try await self.finish(job, user: user, accountID: known.id)
            return .done
        }
        do {
            let opened = try await self.calls.call("create_account", "account:\(wallet.user)", of: job) {
                try await self.provider.createDepositAccount(
                    customerID: customer,
                    kind: type.value == .merchant ? .business : .individual,
                    deadline: nil
                )
            }
            try await self.finish(job, user: user, accountID: opened.id)
            return .done
        } catch let error as AnchorError where error.mayHaveBeenSent {
            return .again(reason: error.description, after: Self.settlingTime)
        }
    }

    /// The account that an earlier attempt opened; of several always the same one.
    ///
    /// Not that of a former self: who closed a profile and came back has the same customer, and another wallet.
    private func existing(_ customer: String, of user: UserID) async throws -> DepositAccount? {
        let found = try await self.provider.accounts(customerID: customer, deadline: nil)
            .filter { $0.customerID == nil || $0.customerID == customer }
            .filter { $0.status != "CLOSED" && $0.status != "DEPRECATED" }
        let others = try await self.accounts.heldByOthers(found.map(\.id), than: user, on: self.database)
        return found.filter { !others.contains($0.id) }.min { $0.id < $1.id }
    }

    private func finish(_ job: Job, user: UserID, accountID: String) async throws {
        try await self.database.transaction(cause: job.cause) { transaction in
            _ = try await self.accounts.lock(user, in: transaction)
            try await job.finish(in: transaction)
            try await self.accounts.setAnchorAccountID(accountID, of: user, in: transaction)
            try await transaction.requeue(
                AccountJob.fetchAccount,
                key: user.description,
                subject: user.description
            )
        }
    }
}
