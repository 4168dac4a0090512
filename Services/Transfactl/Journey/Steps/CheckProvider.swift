import Contracts
import Primitives

/// The provider's log and balances say the same as our ledger.
struct CheckProvider {
    private static let pageSize = 1000

    let stage: Stage
    let outcome: Outcome

    private struct LogPage: Decodable {
        struct Entry: Decodable {
            let reference: String?
            let amount: Int64?
            let source: String?
            let destination: String?
        }

        let entries: [Entry]
        let next: Int
        let total: Int
    }

    private struct BalancePage: Decodable {
        struct Account: Decodable {
            let id: String
            let ledger: Int64
            let hold: Int64
        }

        let accounts: [Account]
        let next: Int
        let total: Int
    }

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("The provider's log agrees to the kobo")
        let entries = try await self.acceptedTransfers()
        self.checkTransfers(entries)
        try await self.checkBalances(entries)
    }

    /// Everything that the provider accepted out of ada's account.
    private func acceptedTransfers() async throws(Failure) -> [LogPage.Entry] {
        var entries: [LogPage.Entry] = []
        var position = 0
        while true {
            let path = "/sandbox/log?type=transfer_accepted&after=\(position)&limit=\(Self.pageSize)"
            let page = try await self.stage.send(.get(.sandbox, path)).decode(LogPage.self)
            entries += page.entries.filter { $0.source == self.outcome.providerAccount }
            guard page.next < page.total, page.next > position else { break }
            position = page.next
        }
        self.stage.report.note("the provider's log has \(entries.count) accepted transfers out of ada's account")
        return entries
    }

    private func checkTransfers(_ entries: [LogPage.Entry]) {
        let byReference = Dictionary(grouping: entries) { $0.reference ?? "" }
        var wrong: [String] = []
        for payment in self.outcome.payments {
            let reference = Self.reference(payment)
            let amounts = (byReference[reference] ?? []).map { $0.amount ?? 0 }
            if amounts != [payment.response.amount] {
                wrong.append("\(reference) has \(amounts), ours is \(payment.response.amount)")
            }
        }
        let ours = self.outcome.total
        let theirs = entries.reduce(0) { $0 + ($1.amount ?? 0) }
        self.stage.report.check(
            "one accepted transfer per reference, with our amount",
            wrong.isEmpty && entries.count == self.outcome.payments.count,
            wrong.isEmpty
                ? "\(entries.count) transfers for \(self.outcome.payments.count) payments"
                : wrong.joined(separator: "; ")
        )
        self.stage.report.check(
            "the provider took what we booked",
            ours == theirs,
            "ours \(ours), theirs \(theirs) kobo"
        )
    }

    private func checkBalances(_ entries: [LogPage.Entry]) async throws(Failure) {
        let balances = try await self.balances()
        let spent = self.outcome.total + self.outcome.fees
        self.checkBalance("ada", balances[self.outcome.providerAccount], Journey.funding - spent)
        let rerouted = Set(self.outcome.payments.filter { $0.route == .internal }.map(Self.reference))
        let destinations = Set(entries.filter { rerouted.contains($0.reference ?? "") }.compactMap(\.destination))
        let accounts = destinations.sorted()
        self.checkBalance(
            "bola",
            accounts.count == 1 ? balances[accounts[0]] : nil,
            self.outcome.total(.internal)
        )
    }

    private func checkBalance(_ name: String, _ found: Int64?, _ expected: Int64) {
        self.stage.report.check(
            "\(name)'s account at the provider holds what the wallet says",
            found == expected,
            "theirs \(found.map(String.init) ?? "not found"), ours \(expected) kobo"
        )
    }

    private func balances() async throws(Failure) -> [String: Int64] {
        var balances: [String: Int64] = [:]
        var position = 0
        while true {
            let path = "/sandbox/balances?after=\(position)&limit=\(Self.pageSize)"
            let page = try await self.stage.send(.get(.sandbox, path)).decode(BalancePage.self)
            for account in page.accounts { balances[account.id] = account.ledger - account.hold }
            guard page.next < page.total, page.next > position else { return balances }
            position = page.next
        }
    }

    /// Our name of a transfer at the provider.
    private static func reference(_ payment: Payment) -> String {
        "trf-\(payment.response.transactionID.lowercased)"
    }
}
