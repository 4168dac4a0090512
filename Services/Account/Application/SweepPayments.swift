import AnchorClient
import Messaging

/// Job: asks the provider which payments came in on an account and reads those that no message told of.
///
/// It credits nothing itself: each payment that is not known gets the same job that a webhook would have started.
struct SweepPayments: Sendable {
    let database: EventDatabase
    let payments: InboundPaymentStore
    let provider: any AccountProvider

    /// Payments per page of the provider's list.
    static let pageSize = 100

    /// Runs the job; its key is the provider's id of the account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        let account = try await self.provider.depositAccount(id: job.key, deadline: nil)
        guard let number = account.number?.id else { return .cancelled(reason: "no_number") }
        let found = try await self.newest(of: number)
        let unknown = try await self.payments.unknown(found, on: self.database)
        try await self.database.transaction(cause: job.cause) { transaction in
            try await job.finish(in: transaction)
            for id in unknown {
                // One that runs, or that people are to look at, stays as it is.
                try await transaction.enqueue(AccountJob.readPayment, key: id, subject: job.key)
            }
        }
        return .done
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
