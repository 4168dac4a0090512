import Contracts

/// Verification and wallets come by themselves.
struct AwaitWallets {
    private static let title = "Wallet Ready"

    let stage: Stage
    let people: [Person]

    func callAsFunction() async throws(Failure) {
        self.stage.report.step("Everybody is verified and gets a wallet")
        for person in self.people {
            person.accountNumber = try await self.account(of: person)
            try await self.notification(of: person)
            try await self.wallet(of: person)
        }
    }

    private func account(of person: Person) async throws(Failure) -> String {
        try await self.stage.wait(
            for: "\(person.name) is verified and has an account",
            asking: .get(.service(.account), "/accounts/me"),
            as: person
        ) { answer throws(Failure) in
            guard answer.status == 200 else { return nil }
            let account = try answer.decode(AccountResource.self)
            return account.status == "open" ? account.accountNumber : nil
        }
    }

    private func notification(of person: Person) async throws(Failure) {
        _ = try await self.stage.wait(
            for: "\(person.name) has the message \"\(Self.title)\"",
            asking: .get(.service(.notification), "/notifications"),
            as: person
        ) { answer throws(Failure) -> NotificationResource? in
            guard answer.status == 200 else { return nil }
            return try answer.decode(NotificationPage.self).data.first { $0.title == Self.title }
        }
    }

    private func wallet(of person: Person) async throws(Failure) {
        _ = try await self.stage.wait(
            for: "\(person.name) has an empty wallet",
            asking: .get(.service(.transaction), "/wallet"),
            as: person
        ) { answer throws(Failure) -> WalletResource? in
            answer.status == 200 ? try answer.decode(WalletResource.self) : nil
        }
    }
}
