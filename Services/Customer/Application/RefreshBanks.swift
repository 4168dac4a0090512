import AnchorClient
import Messaging

/// Job: asks the provider for the list of banks.
///
/// While it has no answer, or an empty one, the list stays as it was.
struct RefreshBanks: Sendable {
    let database: EventDatabase
    let store: BankListStore
    let provider: any CustomerProvider

    /// There is one job, which is run again and again.
    static let key = "all"

    /// Runs the job.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of {
            let banks = try await self.provider.banks(deadline: nil)
            guard !banks.isEmpty else { return .again(reason: "no_banks", after: nil) }
            let list = try BankListing(banks.map { (code: $0.nipCode, name: $0.name) })
            try await self.database.transaction(cause: job.cause) { transaction in
                try await job.finish(in: transaction)
                try await self.store.save(list, in: transaction)
            }
            return .done
        }
    }
}
