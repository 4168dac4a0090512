import Contracts

/// Money for a wallet comes in at the bank.
struct FundWallet {
    let stage: Stage
    let person: Person
    /// Kobo.
    let amount: Int64

    private struct Order: Encodable {
        let amount: Int64
    }

    private struct Funded: Decodable {
        let account: String
    }

    /// Gives the account at the provider.
    func callAsFunction() async throws(Failure) -> String {
        let name = self.person.name
        self.stage.report.step("An inbound payment for \(name)")
        guard let number = self.person.accountNumber else { throw Failure("\(name) has no account number.") }
        let look = Call.get(.service(.transaction), "/wallet")
        let before = try await self.stage.send(look, as: self.person).expecting().decode(WalletResource.self)
        let call = try Call.post(.sandbox, "/sandbox/accounts/\(number)/fund", Order(amount: self.amount))
        let funded = try await self.stage.require(201, from: call).decode(Funded.self)
        let wallet = try await self.stage.wait(for: "\(name)'s wallet is credited", asking: look, as: self.person) {
            answer throws(Failure) -> WalletResource? in
            guard answer.status == 200 else { return nil }
            let wallet = try answer.decode(WalletResource.self)
            return wallet.posted > before.posted ? wallet : nil
        }
        let (posted, available) = (wallet.posted - before.posted, wallet.available - before.available)
        self.stage.report.check(
            "\(name)'s wallet holds what came in",
            posted == self.amount && available == self.amount,
            "posted \(wallet.posted), available \(wallet.available), sent \(self.amount) kobo"
        )
        return funded.account
    }
}
