import Contracts
import Hummingbird
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Where to send money to fund the wallet.
struct AccountController: Sendable {
    let database: EventDatabase
    let accounts: AccountStore
    let keys: any DataKeys

    /// Adds the routes.
    func add(to group: RouterGroup<AppRequestContext>) {
        group.polled("/accounts/me") { try await self.get($0, $1) }
    }

    private func get(_ request: Request, _ context: AppRequestContext) async throws -> APIResponse {
        let user = try context.requireIdentity().userID
        guard let found = try await self.accounts.find(user, as: user, on: self.database) else {
            throw AccountError.noAccount
        }
        // A pending account has nothing sealed: no need to ask for the key.
        let key = found.status == .open && !found.isErased ? try await self.keys.key(for: user) : nil
        return try APIResponse(json: AccountResource(found, key: key))
    }
}

extension AccountResource {
    /// An account as its user sees it; once the key is gone, so is what was sealed.
    init(_ wallet: DepositWallet, key: DataKey?) {
        let isOpen = wallet.status == .open
        self.init(
            id: wallet.id,
            status: wallet.status.rawValue,
            accountNumber: isOpen ? Self.text(wallet.accountNumber, DepositWallet.numberField, wallet, key) : nil,
            accountName: isOpen ? Self.text(wallet.accountName, DepositWallet.nameField, wallet, key) : nil,
            bankName: wallet.bankName,
            currency: "NGN"
        )
    }

    private static func text(_ sealed: Sealed?, _ field: String, _ wallet: DepositWallet, _ key: DataKey?) -> String {
        guard let sealed, let key, let text = try? key.text(in: sealed, field: field, of: wallet.user) else {
            return SealedField.erasedText
        }
        return text
    }
}
