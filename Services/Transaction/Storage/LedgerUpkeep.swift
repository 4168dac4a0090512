import Messaging
import Postgres

/// What age alone decides.
struct LedgerUpkeep: Sendable {
    /// Old refusals, or nonces, that one run forgets at most: twice what a thousand payments a second leave.
    private static let pruned: Int32 = 20_000
    /// Transfers of one run.
    private static let unsent: Int64 = 1_000

    /// Forgets refusals after 30 days and nonces after a day; an approval lives two minutes.
    func prune(in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            SELECT prune_orders(transfa_now() - interval '30 days', transfa_now() - interval '1 day',
                \(Self.pruned))
            """
        )
    }

    /// Fails transfers that were accepted a day ago and have no call to the provider: their holds must not last for ever.
    ///
    /// Only the state `accepted` has no call. That they are too old is what `begin_submission` finds first, so none of
    /// them is sent here.
    func failUnsent(in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            SELECT count(*) FROM begin_submission(ARRAY(
                SELECT t.id FROM jobs j JOIN transfers t ON t.id = j.key::uuid
                WHERE j.kind = \(TransactionJob.submit.rawValue) AND j.state = 'queued' AND t.state = 'accepted'
                    AND t.created_at < transfa_now() - interval '24 hours'
                ORDER BY t.id LIMIT \(Self.unsent)), 'age')
            """
        )
    }

    /// Drops or requests of one run: a run is short, what is left comes next time.
    private static let deadlineBatch: Int32 = 200

    /// Ends drops that have expired and orders what goes back to their creators.
    func sweepMoneyDrops(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT sweep_money_drops(\(Self.deadlineBatch))")
    }

    /// The newest transfers to banks that are looked at.
    private static let weighedTransfers: Int32 = 20_000

    /// Sees how the banks are doing by what became of the transfers to them.
    func weighBanks(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT weigh_banks(\(Self.weighedTransfers))")
    }

    /// Ends payment requests that have expired.
    func expireRequests(in transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT expire_payment_requests(\(Self.deadlineBatch))")
    }
}
