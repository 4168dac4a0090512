import Contracts
import Foundation
import Primitives

/// Wallets, analytics, free slots and ledger say the same.
struct CheckOurBooks {
    let stage: Stage
    let outcome: Outcome

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("Wallets, analytics and ledger agree")
        let cast = self.outcome.cast
        let spent = self.outcome.total + self.outcome.fees
        try await self.wallet(of: cast.ada, Journey.funding - spent)
        try await self.wallet(of: cast.bola, self.outcome.total(.internal))
        try await self.wallet(of: cast.merchant, 0)
        try await self.analytics(of: cast.ada, inWallet: Journey.funding, inBank: 0, out: self.outcome.total)
        try await self.analytics(
            of: cast.bola,
            inWallet: self.outcome.total(.internal),
            inBank: self.outcome.total(.external),
            out: 0
        )
        try await self.freeSlots()
        try await self.invariants()
    }

    private func wallet(of person: Person, _ expected: Int64) async throws(Failure) {
        let answer = try await self.stage.require(200, from: .get(.service(.transaction), "/wallet"), as: person)
        let wallet = try answer.decode(WalletResource.self)
        self.stage.report.check(
            "\(person.name)'s wallet",
            wallet.posted == expected && wallet.available == expected && wallet.held == 0,
            "posted \(wallet.posted), available \(wallet.available), held \(wallet.held), wanted \(expected) kobo"
        )
    }

    private func analytics(of person: Person, inWallet: Int64, inBank: Int64, out: Int64) async throws(Failure) {
        // Everything was handled before; the last day may have become another one since the journey began.
        let days = "from=\(self.outcome.firstDay)&to=\(LagosCalendar.day(of: Date()))"
        let call = Call.get(.service(.analytics), "/analytics/summary?\(days)")
        let found = try await self.stage.require(200, from: call, as: person).decode(AnalyticsSummary.self)
        let holds =
            found.inWallet == inWallet && found.inBank == inBank && found.moneyOut == out
            && found.moneyIn == inWallet + inBank
        self.stage.report.check(
            "\(person.name)'s analytics",
            holds,
            "in_wallet \(found.inWallet) (wanted \(inWallet)), in_bank \(found.inBank) (wanted \(inBank)), "
                + "money_out \(found.moneyOut) (wanted \(out)), money_in \(found.moneyIn) (wanted \(inWallet + inBank))"
        )
    }

    private func freeSlots() async throws(Failure) {
        let call = Call.get(.service(.subscription), "/subscriptions/status")
        let answer = try await self.stage.require(200, from: call, as: self.outcome.cast.bola)
        let used = try answer.decode(SubscriptionStatus.self).externalTransfersUsed
        self.stage.report.check(
            "bola's free slots are used up",
            used == Journey.freeSlots,
            "used \(used), wanted \(Journey.freeSlots)"
        )
    }

    private struct Breach: Decodable {
        let name: String
    }

    private func invariants() async throws(Failure) {
        let call = Call.get(.internalPort(.transaction), "/internal/invariants")
        let breaches = try await self.stage.require(200, from: call).decode([Breach].self)
        let names = breaches.map(\.name).joined(separator: ", ")
        self.stage.report.check(
            "the ledger's invariants",
            breaches.isEmpty,
            breaches.isEmpty ? "none broken" : "\(breaches.count) broken: \(names)"
        )
    }
}
