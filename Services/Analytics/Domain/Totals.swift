import Contracts
import Primitives

/// What moved in a period.
struct Totals: Hashable, Sendable {
    var inWallet = Money.zero
    var inBank = Money.zero
    var moneyOut = Money.zero
    var fees = Money.zero

    /// The sum of both.
    func adding(_ other: Totals) throws(MoneyOverflow) -> Totals {
        Totals(
            inWallet: try self.inWallet.adding(other.inWallet),
            inBank: try self.inBank.adding(other.inBank),
            moneyOut: try self.moneyOut.adding(other.moneyOut),
            fees: try self.fees.adding(other.fees)
        )
    }

    /// What people are told.
    func summary(of period: LagosPeriod) throws(MoneyOverflow) -> AnalyticsSummary {
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

extension LagosPeriod {
    /// What moved in each bucket, from what moved on single days; a bucket in which nothing moved is there too.
    func series(by step: Step, of days: [CivilDate: Totals]) throws(MoneyOverflow) -> [AnalyticsSummary] {
        var series: [AnalyticsSummary] = []
        for bucket in self.buckets(by: step) {
            var totals = Totals()
            for day in bucket.from.daysSince1970...bucket.to.daysSince1970 {
                if let more = days[CivilDate(daysSince1970: day)] { totals = try totals.adding(more) }
            }
            series.append(try totals.summary(of: bucket))
        }
        return series
    }
}
