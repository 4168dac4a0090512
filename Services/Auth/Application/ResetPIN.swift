import Contracts
import Foundation
import Messaging
import Primitives
import Sealing

/// Replaces a forgotten PIN for somebody who has just proved to Clerk who they are.
///
/// Whoever holds an open session and nothing else gets no further. And whoever took over the sign-in too sends little:
/// `pin.reset` puts PINs under the limit of a new device for a day, and the owner is told.
struct ResetPIN: Sendable {
    let database: EventDatabase
    let users: UserStore
    let pins: PINStore
    let hasher: PINHasher
    let fresh: FreshSignIn

    /// Hashes the PIN for somebody who may reset it, before the transaction.
    ///
    /// - Throws: `AuthError.reverificationRequired`, `notOnboarded`, `pinNotSet` or `busy`.
    func prepare(_ pin: PIN, of user: UserID, provenAt: Date?) async throws -> String {
        try self.fresh.check(provenAt)
        guard try await self.users.find(user, on: self.database) != nil else { throw AuthError.notOnboarded }
        // Asked before hashing: a hash is too dear to throw away.
        guard try await self.pins.exists(user, on: self.database) else { throw AuthError.pinNotSet }
        return try await self.hasher.hashOrBusy(pin)
    }

    /// Sets the PIN and ends a lockout.
    ///
    /// - Throws: `AuthError.pinNotSet` when it was removed meanwhile.
    func callAsFunction(_ hash: String, of user: UserID, in transaction: EventTransaction) async throws {
        guard try await self.pins.reset(hash, of: user, in: transaction) else { throw AuthError.pinNotSet }
        let event = PINReset(
            userID: user.uuid,
            resetID: transaction.makeID(),
            resetAt: Timestamp.text(transaction.now)
        )
        try await transaction.publish(event, about: user)
    }
}

extension PINHasher {
    /// Hashes a PIN.
    ///
    /// - Throws: `AuthError.busy` when too many are being hashed.
    func hashOrBusy(_ pin: PIN) async throws -> String {
        do {
            return try await self.hash(pin.digits)
        } catch {
            throw error.isRefusalOfWork ? AuthError.busy : error
        }
    }
}
