import AnchorClient
import Messaging
import Primitives

/// Job: asks the provider whether it has decided about a customer what a webhook says, and publishes what it answers.
///
/// A webhook is a hint: whoever has its secret can write one, and that a customer is verified is for ever.
struct ConfirmVerdict: Sendable {
    let database: EventDatabase
    let customers: CustomerStore
    let provider: any NotificationProvider
    let publishVerdict: PublishVerdict
    let clock: any TimeSource

    /// What a webhook says of a customer.
    private struct Hint: Codable, Sendable {
        let customerID: String
        let verdict: String
    }

    /// After which a hint is left to `CheckCustomer`, which goes on asking.
    ///
    /// Runs do not count: many end without an answer, as while the provider is away.
    static let patience = Duration.seconds(3600)

    /// Asks for the question, once per webhook.
    static func ask(
        about customer: KnownCustomer,
        _ evidence: WebhookStore.Evidence,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.enqueue(
            NotificationJob.confirmVerdict,
            key: evidence.eventID,
            subject: customer.user.description,
            payload: Hint(customerID: customer.anchorCustomerID, verdict: evidence.verdict.rawValue)
        )
    }

    /// Runs the job; its key is the webhook's id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        do {
            return try await self.run(job)
        } catch let error as AnchorError {
            return JobOutcome(error)
        }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        let hint = try job.payload(as: Hint.self)
        guard let hinted = IdentityVerdict(rawValue: hint.verdict) else { return .cancelled(reason: "unknown_verdict") }
        let answer = try await self.provider.customer(id: hint.customerID, deadline: nil)
        let later: JobOutcome =
            job.age(at: self.clock.now) < Self.patience
            ? .again(reason: "not_confirmed", after: nil) : .cancelled(reason: "not_confirmed")
        guard let verdict = hinted.confirmed(by: answer.verification) else { return later }
        // Somebody may wait for the approval, which what the provider shows may not know yet.
        let isSettled = verdict == hinted || hinted != .approved
        try await self.database.transaction(cause: job.cause) { transaction in
            try await self.customers.lockID(hint.customerID, in: transaction)
            if isSettled { try await job.finish(in: transaction) }
            let now = try await self.customers.find(anchorCustomerID: hint.customerID, in: transaction)
            // What the provider has decided instead may have been told; each document that it wants anew is news.
            guard let now, !now.isVerified, verdict == hinted || verdict.rawValue != now.status else { return }
            try await self.publishVerdict(verdict, about: now, in: transaction)
        }
        return isSettled ? .done : later
    }
}
