import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: compares one of the provider's accounts with our books and notes what differs.
///
/// Changes no balance. What is found for the first time is looked at again a while later by itself.
struct ReconcileAccount: Sendable {
    let database: EventDatabase
    let store: ReconciliationStore
    let provider: any ProviderBooks
    let clock: any TimeSource

    /// How far back transfers and payments are compared one by one; the balance covers what is older.
    static let lookBack = Duration.seconds(7 * 86_400)
    /// Longer than a transfer's outcome, once the provider has it, can take to reach us by asking.
    static let confirmAfter = Duration.seconds(900)

    /// Runs the job, whose key is the provider's account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let account = try await self.store.account(job.key) else { return .cancelled(reason: "unknown_account") }
        let differences: [BookDifference]
        do {
            differences = try await self.look(at: account)
        } catch let error as AnchorError {
            return JobOutcome(lookingFailed: error)
        } catch is TooManyRows {
            return .failed(reason: "too_many_rows")
        }
        let suspected = try await self.database.transaction(cause: job.cause) { transaction in
            try await self.store.note(differences, of: account, confirmAfter: Self.confirmAfter, in: transaction)
        }
        return suspected == 0 ? .done : .again(reason: "to_be_confirmed", after: Self.confirmAfter)
    }

    private func look(at account: ReconciliationStore.Account) async throws -> [BookDifference] {
        let recent = self.clock.now.addingTimeInterval(-(Self.lookBack / .seconds(1)))
        let since = try await self.store.oldestDifference(of: account).map { min($0, recent) } ?? recent
        let before = try await self.store.ourBooks(of: account, since: since)
        let theirs = try await self.provider.read(account.name, since: since)
        let after = try await self.store.ourBooks(
            of: account,
            since: since,
            references: theirs.transfers.map(\.reference),
            payments: theirs.payments.map(\.id)
        )
        let sources = Set(theirs.transfers.compactMap(\.source)).subtracting([account.name])
        return BookComparison.differences(
            of: theirs,
            from: before,
            to: after,
            reconciled: try await self.store.reconciled(sources)
        )
    }
}

extension JobOutcome {
    /// What an error of the provider means for a look at its books: there is always a later one.
    init(lookingFailed error: AnchorError) {
        switch error.remedy {
        case .refused(let code): self = .failed(reason: "refused_\(code.rawValue)")
        case .absent: self = .failed(reason: "not_found_at_provider")
        case .repeatLater(let reason, let pause): self = .again(reason: reason, after: pause)
        }
    }
}
