import AnchorClient
import Contracts
import Messaging
import Primitives
import ServiceKit

/// Job: asks for the account's number until the provider has assigned one, then says that the wallet is open.
///
/// It never waits for a webhook: one only makes it ask sooner.
struct FetchAccount: Sendable {
    let database: EventDatabase
    let accounts: AccountStore
    let keys: any DataKeys
    let provider: any AccountProvider

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let user = UserID(text: job.key),
            let wallet = try await self.accounts.find(user, as: nil, on: self.database),
            let accountID = wallet.anchorAccountID
        else { return .again(reason: "account_unknown", after: nil) }
        guard !wallet.isErased else { throw AccountError.erased }
        guard wallet.status == .pending else { return .done }
        let account = try await self.provider.depositAccount(id: accountID, deadline: nil)
        guard let number = account.number else { return .again(reason: "number_not_assigned", after: nil) }
        guard let key = try await self.keys.key(for: user) else { throw AccountError.erased }
        var opened = wallet
        opened.accountNumber = try key.seal(number.number, field: DepositWallet.numberField, of: user)
        opened.accountName = try key.seal(number.accountName, field: DepositWallet.nameField, of: user)
        opened.bankName = number.bankName
        try await self.open(opened, job)
        return .done
    }

    private func open(_ opened: DepositWallet, _ job: Job) async throws {
        try await self.database.transaction(cause: job.cause) { transaction in
            let locked = try await self.accounts.lock(opened.user, in: transaction)
            try await job.finish(in: transaction)
            guard let locked, locked.status == .pending, !locked.isErased, let event = AccountOpened(opened) else {
                return
            }
            try await self.accounts.saveOpened(opened, in: transaction)
            try await transaction.publish(event, about: opened.user)
        }
    }
}

extension AccountOpened {
    /// What others hear of an account with a number; nil for one without.
    init?(_ wallet: DepositWallet) {
        guard let account = wallet.anchorAccountID, let number = wallet.accountNumber, let name = wallet.accountName
        else { return nil }
        self.init(
            userID: wallet.user.uuid,
            accountID: wallet.id,
            anchorAccountID: account,
            bankName: wallet.bankName ?? "",
            accountNumber: number,
            accountName: name
        )
    }
}
