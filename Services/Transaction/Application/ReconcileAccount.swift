import AnchorClient
import Foundation
import Messaging
import Primitives

/// Job: compares one of the provider's accounts with our books and notes what differs.
///
/// Changes nobody's balance: bills that are not booked are booked first, and leave an account of ours. What is found for
/// the first time is looked at again a while later by itself. A transfer that the provider has taken back, or calls
/// failed, is asked about by itself: its message may have been lost.
struct ReconcileAccount: Sendable {
    let database: EventDatabase
    let store: ReconciliationStore
    let bills: BillStore
    let provider: any ProviderBooks
    let clock: any TimeSource

    /// How far back transfers and payments are compared one by one; the balance covers what is older.
    static let lookBack = Duration.seconds(7 * 86_400)
    /// Longer than a transfer's outcome, once the provider has it, can take to reach us by asking.
    static let confirmAfter = Duration.seconds(900)

    /// Runs the job, whose key is the provider's account.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        guard let account = try await self.store.account(job.key) else { return .cancelled(reason: "unknown_account") }
        let found: Look
        do {
            found = try await self.look(at: account, job.cause)
        } catch let error as AnchorError {
            return JobOutcome(lookingFailed: error)
        } catch is TooManyRows {
            return .failed(reason: "too_many_rows")
        }
        let suspected = try await self.database.transaction(cause: job.cause) { transaction in
            for id in found.undone { try await transaction.requeueCheck(of: id) }
            return try await self.store.note(
                found.differences,
                found.explained,
                of: account,
                confirmAfter: Self.confirmAfter,
                in: transaction
            )
        }
        return suspected == 0 ? .done : .again(reason: "to_be_confirmed", after: Self.confirmAfter)
    }

    /// What a look finds.
    private struct Look {
        let differences: [BookDifference]
        let explained: ExplainedMoney
        /// Which transfers the provider says did not last.
        let undone: [UUID]
    }

    private func look(at account: ReconciliationStore.Account, _ cause: Cause) async throws -> Look {
        let recent = self.clock.now.addingTimeInterval(-(Self.lookBack / .seconds(1)))
        let since = try await self.store.oldestDifference(of: account).map { min($0, recent) } ?? recent
        let before = try await self.store.ourBooks(of: account, since: since)
        let billsSince = try await self.unexplained(account).map { min($0, since) } ?? since
        let theirs = try await self.provider.read(account.name, since: since, billsSince: billsSince)
        try await self.bills.book(theirs.bills, of: account.name, in: self.database, cause: cause)
        let after = try await self.store.ourBooks(
            of: account,
            since: since,
            references: theirs.transfers.map(\.reference),
            payments: theirs.payments.map(\.id)
        )
        let sources = Set(theirs.transfers.compactMap(\.source)).subtracting([account.name])
        let reconciled = try await self.store.reconciled(sources)
        let differences = BookComparison.differences(of: theirs, from: before, to: after, reconciled: reconciled)
        let states = Set(differences.filter { $0.kind == .otherState }.map(\.key))
        let undone = theirs.transfers.filter { row in
            (row.status == .reversed || row.status == .failed) && states.contains(row.reference)
        }
        return Look(
            differences: differences,
            explained: ExplainedMoney(theirs, but: differences, reconciled: reconciled),
            undone: undone.compactMap { TransferReference.transaction(in: $0.reference) }
        )
    }
}

extension ReconcileAccount {
    /// From when on bills may explain a balance that has differed for long: it agreed a look before that.
    ///
    /// So billing may be told of after it has begun.
    private func unexplained(_ account: ReconciliationStore.Account) async throws -> Date? {
        guard self.bills.billing.payer != .nobody else { return nil }
        return try await self.store.balanceDiffersSince(account)?.addingTimeInterval(-(Self.lookBack / .seconds(1)))
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
