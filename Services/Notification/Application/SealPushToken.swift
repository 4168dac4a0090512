import Primitives
import ServiceKit

/// Seals a phone's token under its person's key, before a transaction begins: no row waits for a network.
struct SealPushToken: Sendable {
    let keys: any DataKeys

    /// Seals it.
    ///
    /// - Throws: `NotificationError.notOnboarded`, `erased`.
    func callAsFunction(_ token: PushToken, of user: UserID) async throws -> String {
        do {
            guard let sealed = try await self.keys.seal(token.text, field: PushToken.field, of: user) else {
                throw NotificationError.erased
            }
            return sealed
        } catch DataKeyError.unknownUser {
            throw NotificationError.notOnboarded
        }
    }
}
