import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: books what the provider has billed on one of its accounts, each row of its books once.
struct BookBills: Sendable {
    let database: EventDatabase
    let store: BillStore
    let provider: any ProviderBooks
    let clock: any TimeSource

    /// How far back bills are read; the daily looks at accounts of people reach further.
    static let lookBack = Duration.seconds(86_400)
    /// The same for the organisation's account when none of its bills is booked: nobody else looks at it.
    static let firstLookBack = Duration.seconds(7 * 86_400)

    /// Runs the job, whose key is the provider's account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard self.store.billing.payer != .nobody else { return .cancelled(reason: "not_billed") }
        let since = try await self.since(job.key)
        let bills: [TheirBooks.Bill]
        do {
            bills = try await self.provider.bills(of: job.key, since: since)
        } catch let error as AnchorError {
            return JobOutcome(lookingFailed: error)
        } catch is TooManyRows {
            return .failed(reason: "too_many_rows")
        }
        try await self.store.book(bills, of: job.key, in: self.database, cause: job.cause)
        return .done
    }

    /// From when on an account is read; the organisation's from its newest bill on.
    ///
    /// So nothing is missed while the service is away, and a restored ledger is made whole.
    private func since(_ account: String) async throws -> Date {
        let recent = self.clock.now.addingTimeInterval(-(Self.lookBack / .seconds(1)))
        guard account == self.store.billing.account else { return recent }
        guard let newest = try await self.store.newest(of: account) else {
            return self.clock.now.addingTimeInterval(-(Self.firstLookBack / .seconds(1)))
        }
        return min(newest, recent)
    }
}
