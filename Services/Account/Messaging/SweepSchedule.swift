import Messaging

/// Takes accounts in turn and has the provider asked about payments on them.
enum SweepSchedule {
    static let interval = Duration.seconds(5)
    /// An account is asked about at most so often.
    static let age = Duration.seconds(600)
    /// Accounts per run: with the interval the most that sweeping may ask of the provider.
    static let batch = 40

    /// The schedule.
    static func make(_ accounts: AccountStore) -> Schedule {
        Schedule("sweep_payments", every: Self.interval) { transaction in
            for account in try await accounts.takeForSweep(Self.batch, age: Self.age, in: transaction) {
                try await transaction.requeue(AccountJob.sweepPayments, key: account, subject: account)
            }
        }
    }
}
