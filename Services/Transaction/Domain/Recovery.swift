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

    /// How far back before the backup transfers are listed: what had ended by then may have come back since.
    static let lookBack = ReconcileAccount.lookBack

    /// From when on the provider's transfers may be unknown to the ledger.
    var since: Date { self.restoredTo.addingTimeInterval(-(Self.margin / .seconds(1))) }

    /// From when on the provider's transfers are compared one by one.
    var listedSince: Date { self.since.addingTimeInterval(-(Self.lookBack / .seconds(1))) }

    /// When everything that was under way at the beginning has arrived.
    var isQuietFrom: Date { self.begunAt.addingTimeInterval(Self.patience / .seconds(1)) }

    /// Whether a transfer of the provider may have been forgotten, and is booked when the ledger does not know it.
    func covers(_ transfer: TheirBooks.Transfer) -> Bool { (transfer.createdAt ?? self.begunAt) >= self.since }

    /// Whether a payment has to be in the ledger before the end: what comes in later comes in as always.
    func covers(_ payment: TheirBooks.Payment) -> Bool { (payment.paidAt ?? .distantPast) < self.begunAt }

    /// What keeps a recovery open of what differs on an account: everything but payments that came in later.
    ///
    /// Also what is older than the backup. It explains the balance, and nobody but a person knows that it was there by then.
    func open(_ differences: [BookDifference], _ theirs: TheirBooks) -> [BookDifference] {
        let later = Set(theirs.payments.filter { !self.covers($0) }.map(\.id))
        return differences.filter { !later.contains($0.key) }
    }
}
