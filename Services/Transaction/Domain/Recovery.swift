import Foundation

/// The time in which a restored ledger is brought up to what the provider did since the backup.
struct Recovery: Sendable, Equatable {
    let id: UUID
    /// What happened later is not in the ledger.
    let restoredTo: Date
    let begunAt: Date

    /// How far the clocks of the provider, of the backup and ours may be apart.
    static let margin = Duration.seconds(600)
    /// How long a call that was made before the beginning may be on its way; the ledger's `recovery_patience()`.
    static let patience = Duration.seconds(120)

    /// From when on the provider's transfers are compared one by one.
    var since: Date { self.restoredTo.addingTimeInterval(-(Self.margin / .seconds(1))) }

    /// When everything that was under way at the beginning has arrived.
    var isQuietFrom: Date { self.begunAt.addingTimeInterval(Self.patience / .seconds(1)) }

    /// Whether a transfer of the provider belongs to the time that is compared.
    func covers(_ transfer: TheirBooks.Transfer) -> Bool { (transfer.createdAt ?? self.begunAt) >= self.since }

    /// Whether a payment has to be in the ledger before the end: what comes in later comes in as always.
    func covers(_ payment: TheirBooks.Payment) -> Bool { (payment.paidAt ?? .distantPast) < self.begunAt }

    /// What keeps a recovery open of what differs on an account.
    ///
    /// What is older was there before the backup, and is explained in the balance.
    func open(_ differences: [BookDifference], _ theirs: TheirBooks) -> [BookDifference] {
        let payments = Dictionary(theirs.payments.map { ($0.id, self.covers($0)) }) { first, _ in first }
        return differences.filter { difference in
            payments[difference.key] ?? (difference.happenedAt.map { $0 >= self.since } ?? true)
        }
    }
}
