import Contracts

/// Money for ada comes in at the bank.
struct FundWallet {
    let stage: Stage
    let cast: Cast

    private struct Order: Encodable {
        let amount: Int64
    }

    private struct Funded: Decodable {
        let account: String
    }

    /// Gives ada's account at the provider.
    func callAsFunction() async throws(Failure) -> String {
        self.stage.report.step("Ada is funded by an inbound payment")
        guard let number = self.cast.ada.accountNumber else { throw Failure("ada has no account number.") }
        let call = try Call.post(.sandbox, "/sandbox/accounts/\(number)/fund", Order(amount: Journey.funding))
        let funded = try await self.stage.require(201, from: call).decode(Funded.self)
        let wallet = try await self.stage.wait(
            for: "ada's wallet is credited",
            asking: .get(.service(.transaction), "/wallet"),
            as: self.cast.ada
        ) { answer throws(Failure) -> WalletResource? in
            guard answer.status == 200 else { return nil }
            let wallet = try answer.decode(WalletResource.self)
            return wallet.posted > 0 ? wallet : nil
        }
        self.stage.report.check(
            "ada's wallet holds what came in",
            wallet.posted == Journey.funding && wallet.available == Journey.funding,
            "posted \(wallet.posted), available \(wallet.available), sent \(Journey.funding) kobo"
        )
        return funded.account
    }
}
