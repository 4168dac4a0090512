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

    /// Runs the job; its key is the provider's id of the payment.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        let outcome = try await JobOutcome.of { try await self.run(job) }
        guard case .again(let reason, _) = outcome, job.attempt >= Self.patience else { return outcome }
        return .failed(reason: reason)
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        if try await self.payments.isCredited(job.key, on: self.database) { return .done }
        let payment = try await self.provider.inboundPayment(id: job.key, deadline: nil)
        guard payment.id == job.key else { return .failed(reason: "other_payment_answered") }
        guard payment.isSettled else { return .again(reason: "not_settled", after: nil) }
        guard payment.amount.isPositive else { return .failed(reason: "amount_not_positive") }
        guard let accountID = payment.accountID else { return .again(reason: "account_not_named", after: nil) }
        guard let wallet = try await self.accounts.find(anchorAccountID: accountID, on: self.database) else {
            // Perhaps the account's own job has not committed yet.
            return .again(reason: "account_unknown", after: nil)
        }
        return try await self.credit(payment, on: accountID, of: wallet.user, job)
    }

    private func credit(
        _ payment: InboundPayment,
        on account: String,
        of user: UserID,
        _ job: Job
    ) async throws
        -> JobOutcome
    {
        try await self.database.transaction(cause: job.cause) { transaction in
            let credit = Credit(
                providerPaymentID: payment.id,
                anchorAccountID: account,
                user: user,
                amount: payment.amount,
                reference: Credit.ours(payment.reference),
                providerReference: Credit.providers(payment.reference),
                paidAt: payment.paidAt ?? transaction.now
            )
            guard let id = try await self.payments.insert(credit, in: transaction) else {
                // What shares a reference and is something else is for people to look at.
                let isSameMoney = try await self.payments.isSameMoney(credit, in: transaction)
                return isSameMoney ? .done : .failed(reason: "reference_of_another_payment")
            }
            try await job.finish(in: transaction)
            try await transaction.publish(WalletCredited(credit, paymentID: id), about: user)
            return .done
        }
    }
}
