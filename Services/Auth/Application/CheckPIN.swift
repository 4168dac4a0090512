import Foundation
import Messaging
import Primitives
import Sealing

/// Checks a PIN and counts the attempt.
///
/// The attempt is counted and committed before the hash is computed, so attempts at the same time cannot exceed the
/// limit; a right PIN clears the count.
struct CheckPIN: Sendable {
    let database: EventDatabase
    let pins: PINStore
    let hasher: PINHasher

    /// Returns the stored hash when the PIN is right.
    ///
    /// - Throws: `AuthError.pinNotSet`, `pinInvalid`, `pinLocked`, `pinChanged` or `busy`.
    @discardableResult
    func callAsFunction(_ pin: PIN, of user: UserID, cause: Cause) async throws -> String {
        let (hash, attemptsLeft) = try await self.admit(user, cause: cause)
        let isRight: Bool
        do {
            isRight = try await self.hasher.verify(pin.digits, against: hash)
        } catch {
            guard error.isRefusalOfWork else { throw error }
            // Nothing was compared, so nothing may count: else strangers could lock a user out by making us busy.
            try await self.change(user, cause: cause) { $0.giveBack() }
            throw AuthError.busy
        }
        guard isRight else { throw AuthError.pinInvalid(attemptsLeft: attemptsLeft) }
        try await self.change(user, cause: cause) { $0.succeed() }
        return hash
    }

    private func admit(_ user: UserID, cause: Cause) async throws -> (hash: String, attemptsLeft: Int) {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(user, in: transaction) else { throw AuthError.pinNotSet }
            // Read after the row is held: a lockout that ended while we waited has ended.
            let now = transaction.now
            switch stored.lock.admit(at: now) {
            case .locked(let until):
                throw AuthError.pinLocked(secondsLeft: max(1, Int(until.timeIntervalSince(now).rounded(.up))))
            case .check(let attemptsLeft):
                try await self.pins.save(stored.lock, of: user, in: transaction)
                return (stored.hash, attemptsLeft)
            }
        }
    }

    private func change(_ user: UserID, cause: Cause, _ edit: @Sendable (inout PINLock) -> Void) async throws {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(user, in: transaction) else { return }
            edit(&stored.lock)
            try await self.pins.save(stored.lock, of: user, in: transaction)
        }
    }
}

extension SealingError {
    /// The work did not begin.
    var isRefusalOfWork: Bool { self.code == .busy || self.code == .cancelled }
}
