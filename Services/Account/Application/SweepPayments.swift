import AnchorClient
import Messaging
import Primitives

/// Job: asks the provider which payments came in on an account and reads those that no message told of.
///
/// It credits nothing itself: each payment that is not known gets the same job that a webhook would have started. Once
/// after a restore it lists all payments of an account and not only the newest.
struct SweepPayments: Sendable {
    let database: EventDatabase
    let accounts: AccountStore
    let payments: InboundPaymentStore
    let provider: any AccountProvider
    let clock: any TimeSource

    /// Pages of one list at most.
    private static let maximumPages = 1000

    /// Payments per page of the provider's list.
    static let pageSize = 100

    /// Runs the job; its key is the provider's id of the account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        let account = try await self.provider.depositAccount(id: job.key, deadline: nil)
        guard let number = account.number?.id else { return .cancelled(reason: "no_number") }
        let moment = self.clock.now
        let listsAll = try await self.accounts.mayLackPayments(job.key, on: self.database)
        let found = listsAll ? try await self.all(of: number) : try await self.newest(of: number)
        guard let found else { return .failed(reason: "too_many_payments") }
        let unknown = try await self.payments.unknown(found, on: self.database)
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            if listsAll { try await self.accounts.noteListed(job.key, at: moment, in: transaction) }
            for id in unknown {
                // One that runs, or that people are to look at, stays as it is.
                try await transaction.enqueue(AccountJob.readPayment, key: id, subject: job.key)
            }
        }
        return .done
    }

    /// The ids of all payments; nil when there are more than one job takes in.
    private func all(of number: String) async throws -> [String]? {
        var ids: [String] = []
        for page in 0..<Self.maximumPages {
            let answer = try await self.page(page, of: number)
            ids += answer.payments.map(\.id)
            let hasMore = answer.pageCount.map { page + 1 < $0 } ?? (answer.payments.count == Self.pageSize)
            guard hasMore else { return ids }
        }
        return nil
    }

    /// The ids of the newest payments.
    ///
    /// The provider does not say in which order it lists: the newest are on the first page or on the last.
    private func newest(of number: String) async throws -> [String] {
        let first = try await self.page(0, of: number)
        var ids = first.payments.map(\.id)
        if let count = first.pageCount, count > 1 {
            ids += try await self.page(count - 1, of: number).payments.map(\.id)
        }
        // The last page may be short: what came before it would be missed until the list grows.
        if let count = first.pageCount, count > 2 {
            ids += try await self.page(count - 2, of: number).payments.map(\.id)
        }
        return ids
    }

    private func page(_ page: Int, of number: String) async throws -> InboundPaymentPage {
        try await self.provider.inboundTransfers(
            accountNumberID: number,
            page: page,
            size: Self.pageSize,
            deadline: nil
        )
    }
}
