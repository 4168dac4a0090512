import Messaging
import Primitives
import Sealing
import ServiceKit

/// The data keys as the other services get them, for what is opened here.
struct VaultKeys: DataKeys {
    let vault: KeyVault
    let database: EventDatabase

    /// The key of a user; nil when it was destroyed.
    func key(for user: UserID) async throws -> DataKey? {
        do {
            return try await self.vault.open(user, as: nil, on: self.database)
        } catch AuthError.erased {
            return nil
        } catch AuthError.keyNotFound {
            throw DataKeyError.unknownUser
        }
    }
}
