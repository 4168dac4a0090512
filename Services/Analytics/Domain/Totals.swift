import Contracts
import Primitives

/// What moved in a period.
struct Totals: Hashable, Sendable {
    var inWallet = Money.zero
    var inBank = Money.zero
    var moneyOut = Money.zero
    var fees = Money.zero

    /// What people are told.
    func summary(of period: Period) throws(MoneyOverflow) -> AnalyticsSummary {
        AnalyticsSummary(
            from: period.from.description,
            to: period.to.description,
            moneyIn: try self.inWallet.adding(self.inBank).kobo,
            inWallet: self.inWallet.kobo,
            inBank: self.inBank.kobo,
            moneyOut: self.moneyOut.kobo,
            fees: self.fees.kobo
        )
    }
}
