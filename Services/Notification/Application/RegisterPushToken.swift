import Foundation
import Messaging
import Primitives
import ServiceKit

/// Gives a phone's token to a person.
struct RegisterPushToken: Sendable {
    let database: EventDatabase
    let pushes: PushStore
    let keys: any DataKeys

    func callAsFunction(
        _ token: PushToken,
        device: UUID?,
        of user: UserID,
        cause: Cause
    ) async throws -> RegisteredToken {
        guard let sealed = try await self.seal(token, of: user) else { throw NotificationError.erased }
        return try await self.database.transaction(as: user, cause: cause) { transaction in
            try await self.pushes.register(token, sealed: sealed, device: device, of: user, in: transaction)
        }
    }

    private func seal(_ token: PushToken, of user: UserID) async throws -> String? {
        do {
            return try await self.keys.seal(token.text, field: PushToken.field, of: user)
        } catch DataKeyError.unknownUser {
            throw NotificationError.notOnboarded
        }
    }
}
