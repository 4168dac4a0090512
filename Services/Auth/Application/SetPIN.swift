import Contracts
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Sets the first PIN, or another one for whoever knows the present one.
struct SetPIN: Sendable {
    let database: EventDatabase
    let users: UserStore
    let pins: PINStore
    let hasher: PINHasher
    let check: CheckPIN

    /// A PIN that may be set, as hashes.
    enum Prepared: Sendable {
        case first(String)
        case change(from: String, to: String)
    }

    /// Checks the present PIN and hashes the new one, before the transaction.
    ///
    /// - Throws: `AuthError.notOnboarded`, `currentPINRequired`, `busy`, and what checking throws.
    func prepare(
        _ pin: PIN,
        current: PIN?,
        of user: UserID,
        under scope: IdempotencyScope?,
        cause: Cause
    ) async throws -> Prepared {
        guard let current else { return .first(try await self.hashOfFirst(pin, of: user)) }
        let old = try await self.check(current, of: user, under: scope, cause: cause)
        return .change(from: old, to: try await self.hasher.hashOrBusy(pin))
    }

    private func hashOfFirst(_ pin: PIN, of user: UserID) async throws -> String {
        guard try await self.users.find(user, on: self.database) != nil else { throw AuthError.notOnboarded }
        // Asked before hashing: a hash is too dear to throw away.
        guard try await !self.pins.exists(user, on: self.database) else { throw AuthError.currentPINRequired }
        return try await self.hasher.hashOrBusy(pin)
    }

    /// Sets the PIN; who changes one is told, so that the owner hears of it when it was somebody else.
    ///
    /// - Throws: `AuthError.currentPINRequired` or `pinChanged` when somebody was faster.
    func callAsFunction(_ prepared: Prepared, of user: UserID, in transaction: EventTransaction) async throws {
        switch prepared {
        case .first(let hash):
            guard try await self.pins.insert(hash, for: user, in: transaction) else {
                throw AuthError.currentPINRequired
            }
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
