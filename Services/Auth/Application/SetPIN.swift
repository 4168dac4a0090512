import Contracts
import Messaging
import Primitives
import Sealing

/// Sets the first PIN, or another one for whoever knows the present one.
struct SetPIN: Sendable {
    let database: EventDatabase
    let users: UserStore
    let pins: PINStore
    let hasher: PINHasher
    let check: CheckPIN

    /// Sets the PIN; who changes one is told, so that the owner hears of it when it was somebody else.
    ///
    /// - Throws: `AuthError.notOnboarded`, `currentPINRequired`, `pinChanged`, `busy`, and what checking throws.
    func callAsFunction(_ pin: PIN, current: PIN?, of user: UserID, cause: Cause) async throws {
        guard let current else { return try await self.first(pin, of: user, cause: cause) }
        let old = try await self.check(current, of: user, cause: cause)
        let new = try await self.hasher.hashOrBusy(pin)
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard try await self.pins.replace(old, by: new, of: user, in: transaction) else {
                throw AuthError.pinChanged
            }
            let event = PINChanged(
                userID: user.uuid,
                changeID: transaction.makeID(),
                changedAt: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: user)
        }
    }

    private func first(_ pin: PIN, of user: UserID, cause: Cause) async throws {
        guard try await self.users.find(user, on: self.database) != nil else { throw AuthError.notOnboarded }
        // Asked before hashing: a hash is too dear to throw away.
        guard try await !self.pins.exists(user, on: self.database) else { throw AuthError.currentPINRequired }
        let hash = try await self.hasher.hashOrBusy(pin)
        let isSet = try await self.database.transaction(as: user, cause: cause) { transaction in
            try await self.pins.insert(hash, for: user, in: transaction)
        }
        guard isSet else { throw AuthError.currentPINRequired }
    }
}
