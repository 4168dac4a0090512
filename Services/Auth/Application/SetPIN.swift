import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Sets the first PIN for whoever has just signed in, or another one for whoever knows the present one.
///
/// A stolen session sets no first PIN. `pin.set` puts PINs under the limit of a new device for a day, and the owner is told.
struct SetPIN: Sendable {
    let database: EventDatabase
    let users: UserStore
    let pins: PINStore
    let hasher: PINHasher
    let check: CheckPIN
    let fresh: FreshSignIn

    /// A PIN that may be set, as hashes.
    enum Prepared: Sendable {
        case first(String)
        case change(from: String, to: String)
    }

    /// Checks the present PIN and hashes the new one, before the transaction.
    ///
    /// - Throws: `AuthError.reverificationRequired`, `notOnboarded`, `currentPINRequired`, `busy`, and what checking throws.
    func prepare(
        _ pin: PIN,
        current: PIN?,
        of user: UserID,
        provenAt: Date?,
        under scope: IdempotencyScope?,
        cause: Cause
    ) async throws -> Prepared {
        guard let current else { return .first(try await self.hashOfFirst(pin, of: user, provenAt: provenAt)) }
        let old = try await self.check(current, of: user, under: scope, cause: cause)
        return .change(from: old, to: try await self.hasher.hashOrBusy(pin))
    }

    private func hashOfFirst(_ pin: PIN, of user: UserID, provenAt: Date?) async throws -> String {
        guard try await self.users.find(user, on: self.database) != nil else { throw AuthError.notOnboarded }
        // Asked before hashing: a hash is too dear to throw away.
        guard try await !self.pins.exists(user, on: self.database) else { throw AuthError.currentPINRequired }
        try self.fresh.check(provenAt)
        return try await self.hasher.hashOrBusy(pin)
    }

    /// Sets the PIN; who sets or changes one is told, so that the owner hears of it when it was somebody else.
    ///
    /// - Throws: `AuthError.currentPINRequired` or `pinChanged` when somebody was faster.
    func callAsFunction(_ prepared: Prepared, of user: UserID, in transaction: EventTransaction) async throws {
        switch prepared {
        case .first(let hash):
            guard try await self.pins.insert(hash, for: user, in: transaction) else {
                throw AuthError.currentPINRequired
            }
            let event = PINSet(
                userID: user.uuid,
                setID: transaction.makeID(),
                setAt: Timestamp.text(transaction.now)
            )
            try await transaction.publish(event, about: user)
        case .change(let old, let new):
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
}
