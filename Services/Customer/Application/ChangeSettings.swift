import Contracts
import Messaging
import Primitives

/// Changes a user's settings.
struct ChangeSettings: Sendable {
    let users: CustomerUserStore

    /// Changes them; others hear of it only when something changed.
    ///
    /// - Throws: `CustomerError.notOnboarded`, `merchantsOnly`.
    func callAsFunction(
        _ change: SettingsChange,
        user: UserID,
        in transaction: EventTransaction
    ) async throws -> UserSettings {
        guard let known = try await self.users.lock(user, in: transaction), !known.isErased else {
            throw CustomerError.notOnboarded
        }
        let settings = try known.settings.applying(change, to: known.accountType?.value)
        guard settings != known.settings else { return settings }
        try await self.users.set(settings, of: user, in: transaction)
        try await transaction.publish(
            UserSettingsChanged(
                userID: user.uuid,
                allowSending: settings.allowSending,
                receivingPreference: Open(settings.receivingPreference),
                whoMayRequest: Open(settings.whoMayRequest)
            ),
            about: user
        )
        return settings
    }
}
