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
    var maximumPages = 1000

    /// What was found of a list.
    private struct Found: Sendable {
        /// The ids of payments that are not known.
        let unknown: [String]
        /// False when the list has more pages than one job reads.
        let isWhole: Bool
    }

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
        try await self.database.transaction(cause: job.cause) { transaction in
            if found.isWhole { try await job.finish(in: transaction) }
            if found.isWhole, listsAll { try await self.accounts.noteListed(job.key, at: moment, in: transaction) }
            for id in found.unknown {
                // One that runs, or that people are to look at, stays as it is.
                try await transaction.enqueue(AccountJob.readPayment, key: id, subject: job.key)
            }
        }
        // What was found counts: people wait for that money.
        return found.isWhole ? .done : .failed(reason: "too_many_payments")
    }

    /// All payments that are not known.
    private func all(of number: String) async throws -> Found {
        var unknown: [String] = []
        for page in 0..<self.maximumPages {
            let answer = try await self.page(page, of: number)
            unknown += try await self.unknown(answer)
            guard Self.hasMore(answer, after: page) else { return Found(unknown: unknown, isWhole: true) }
        }
        return Found(unknown: unknown, isWhole: false)
    }

    /// The newest payments that are not known.
    ///
    /// The provider does not say in which order it lists: the newest are on the first page or on the last. A page with
    /// some that are not known may not have all of them: messages may have been lost for long.
    private func newest(of number: String) async throws -> Found {
        var unknown: [String] = []
        var front = 0
        var count: Int?
        while true {
            guard front < self.maximumPages else { return Found(unknown: unknown, isWhole: false) }
            let answer = try await self.page(front, of: number)
            let found = try await self.unknown(answer)
            unknown += found
            count = answer.pageCount
            front += 1
            guard Self.hasMore(answer, after: front - 1) else { return Found(unknown: unknown, isWhole: true) }
            guard !found.isEmpty else { break }
        }
        // The last page may be short: what came before it would be missed until the list grows.
        let last = (count ?? 0) - 1
        var back = last
        while back >= front {
            guard last - back < self.maximumPages else { return Found(unknown: unknown, isWhole: false) }
            let found = try await self.unknown(try await self.page(back, of: number))
            unknown += found
            guard !found.isEmpty || back == last else { break }
            back -= 1
        }
        return Found(unknown: unknown, isWhole: true)
    }

    private func unknown(_ answer: InboundPaymentPage) async throws -> [String] {
        try await self.payments.unknown(answer.payments.map(\.id), on: self.database)
    }

    private static func hasMore(_ answer: InboundPaymentPage, after page: Int) -> Bool {
        answer.pageCount.map { page + 1 < $0 } ?? (answer.payments.count == Self.pageSize)
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
