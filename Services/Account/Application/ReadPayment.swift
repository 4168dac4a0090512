import AnchorClient
import Contracts
import Messaging
import Primitives

/// Job: reads a payment at the provider and credits it once it is settled.
///
/// Amount, account and state are what the provider answers, never what a webhook said: a webhook's signature is weak and
/// carries no time.
struct ReadPayment: Sendable {
    let database: EventDatabase
    let accounts: AccountStore
    let payments: InboundPaymentStore
    let provider: any AccountProvider

    /// Attempts after which a payment that does not settle is left to operators: a week, mostly at five minutes.
    static let patience = 2000

    /// Attempts after which an account that nobody has is taken to be nobody's: about two hours.
    static let unmatchedAfter = 24

    /// Runs the job; its key is the provider's id of the payment.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        let outcome = try await JobOutcome.of { try await self.run(job) }
        guard case .again(let reason, _) = outcome, job.attempt >= Self.patience else { return outcome }
        return .failed(reason: reason)
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        if try await self.payments.isKnown(job.key, on: self.database) { return .done }
        let payment = try await self.provider.inboundPayment(id: job.key, deadline: nil)
        guard payment.id == job.key else { return .failed(reason: "other_payment_answered") }
        guard payment.isSettled else { return .again(reason: "not_settled", after: nil) }
        guard payment.amount.isPositive else { return .failed(reason: "amount_not_positive") }
        guard let accountID = payment.accountID else { return .again(reason: "account_not_named", after: nil) }
        guard let wallet = try await self.accounts.find(anchorAccountID: accountID, on: self.database) else {
            // Perhaps the account's own job has not committed yet. Money of ours is in our books already.
            guard job.attempt >= Self.unmatchedAfter, Credit.ours(payment.reference) == nil else {
                return .again(reason: "account_unknown", after: nil)
            }
            return try await self.publishUnmatched(payment, on: accountID, job)
        }
        return try await self.credit(payment, on: accountID, of: wallet.user, job)
    }

    /// Nobody's money is booked all the same, and operators are told where it is.
    private func publishUnmatched(_ payment: InboundPayment, on account: String, _ job: Job) async throws -> JobOutcome
    {
        try await self.once(payment, on: account, job) { transaction in
            let unmatched = UnmatchedPayment(
                providerPaymentID: payment.id,
                anchorAccountID: account,
                amount: payment.amount,
                providerReference: Credit.providers(payment.reference),
                paidAt: payment.paidAt ?? transaction.now
            )
            try await self.payments.insert(unmatched, in: transaction)
            try await job.finish(in: transaction)
            try await transaction.publish(
                PaymentUnmatched(
                    providerPaymentID: payment.id,
                    anchorAccountID: account,
                    amount: payment.amount.kobo,
                    timestamp: Timestamp.text(unmatched.paidAt)
                ),
                about: payment.id
            )
            return .done
        }
    }

    private func credit(
        _ payment: InboundPayment,
        on account: String,
        of user: UserID,
        _ job: Job
    ) async throws
        -> JobOutcome
    {
        try await self.once(payment, on: account, job) { transaction in
            let credit = Credit(
                providerPaymentID: payment.id,
                anchorAccountID: account,
                user: user,
                amount: payment.amount,
                reference: Credit.ours(payment.reference),
                providerReference: Credit.providers(payment.reference),
                paidAt: payment.paidAt ?? transaction.now
            )
            guard let id = try await self.payments.insert(credit, in: transaction) else { return Self.isAnother }
            try await job.finish(in: transaction)
            try await transaction.publish(WalletCredited(credit, paymentID: id), about: user)
            return .done
        }
    }

    /// Runs `body` if this money is not written down yet, neither as a credit nor as nobody's, under whatever id.
    ///
    /// What was told as nobody's stays so: operators release it.
    private func once(
        _ payment: InboundPayment,
        on account: String,
        _ job: Job,
        _ body: (EventTransaction) async throws -> JobOutcome
    ) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            switch try await self.payments.earlier(than: payment, on: account, in: transaction) {
            case .sameMoney: .done
            case .another: Self.isAnother
            case nil: try await body(transaction)
            }
        }
    }

    /// What shares a reference and is something else is for people to look at.
    private static let isAnother = JobOutcome.failed(reason: "reference_of_another_payment")
}
