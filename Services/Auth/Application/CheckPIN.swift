import Contracts
import Foundation
import Messaging
import Primitives
import Sealing
import ServiceKit

/// Checks a PIN and counts the attempt.
///
/// The attempt is counted and committed before the hash is computed, so attempts at the same time cannot exceed the
/// limit; a right PIN clears the count.
///
/// Under an idempotency key an attempt counts once: the key stands for one request, and so for one PIN. A wrong one is
/// refused again without a look at the PIN. One that was not compared in the end, because the process was killed, is
/// compared without being counted again, and so is a right one whose change has failed; neither while the PIN is
/// locked.
struct CheckPIN: Sendable {
    let database: EventDatabase
    let pins: PINStore
    let tries: PINTryStore
    let hasher: PINHasher

    /// An attempt that may be compared.
    private struct Admitted {
        let hash: String
        let attemptsLeft: Int
        /// What an equal attempt gave before; nil for one that is to be settled.
        let earlier: PINTry.Outcome?
        /// Whether this request has counted it, and not an equal one.
        let isCountedHere: Bool
    }

    /// Returns the stored hash when the PIN is right.
    ///
    /// - Throws: `AuthError.pinNotSet`, `pinInvalid`, `pinLocked`, `keyReused`, `pinChanged` or `busy`.
    @discardableResult
    func callAsFunction(
        _ pin: PIN,
        of user: UserID,
        under scope: IdempotencyScope?,
        cause: Cause
    ) async throws -> String {
        let admitted = try await self.admit(user, under: scope, cause: cause)
        let outcome: PINTry.Outcome
        do {
            outcome = try await self.hasher.verify(pin.digits, against: admitted.hash) ? .right : .wrong
        } catch {
            guard error.isRefusalOfWork else { throw error }
            if admitted.isCountedHere { try await self.giveBack(user, under: scope, cause: cause) }
            throw AuthError.busy
        }
        if let scope {
            try await self.settle(admitted, outcome, under: scope, cause: cause)
        } else if outcome == .right {
            try await self.clear(user, cause: cause)
        } else if admitted.attemptsLeft == 0 {
            try await self.tellLockout(user, cause: cause)
        }
        guard outcome == .right else { throw AuthError.pinInvalid(attemptsLeft: admitted.attemptsLeft) }
        return admitted.hash
    }

    /// Runs what takes a PIN under a key, and counts an attempt when the key turns out to be another request's.
    ///
    /// That tells somebody who guesses that the PIN is another one, and so it must cost what a guess costs.
    ///
    /// - Throws: `AuthError.pinLocked`; what `work` throws.
    func guarding<Answer>(
        _ user: UserID,
        cause: Cause,
        _ work: () async throws -> Answer
    ) async throws -> Answer {
        do {
            return try await work()
        } catch let error as any APIErrorConvertible where error.apiError == .idempotencyKeyReused {
            try await self.count(user, cause: cause)
            throw error
        }
    }

    private func count(_ user: UserID, cause: Cause) async throws {
        do {
            let admitted = try await self.admit(user, under: nil, cause: cause)
            if admitted.attemptsLeft == 0 { try await self.tellLockout(user, cause: cause) }
        } catch AuthError.pinNotSet {
            // Then there is nothing to guess.
        }
    }

    // MARK: Before comparing

    private func admit(_ user: UserID, under scope: IdempotencyScope?, cause: Cause) async throws -> Admitted {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(user, in: transaction) else { throw AuthError.pinNotSet }
            // Read after the row is held: a lockout that ended while we waited has ended.
            let now = transaction.now
            if let scope, let known = try await self.tries.find(scope, in: transaction) {
                return try Self.again(known, stored, at: now)
            }
            switch stored.lock.admit(at: now) {
            case .locked(let until): throw Self.locked(until, now)
            case .check(let attemptsLeft):
                try await self.pins.save(stored.lock, of: user, in: transaction)
                if let scope { try await self.tries.insert(scope, attemptsLeft: attemptsLeft, in: transaction) }
                return Admitted(hash: stored.hash, attemptsLeft: attemptsLeft, earlier: nil, isCountedHere: true)
            }
        }
    }

    /// The same attempt once more: it was counted.
    private static func again(_ known: PINTry, _ stored: PINStore.Stored, at now: Date) throws -> Admitted {
        guard known.outcome != .wrong else { throw AuthError.pinInvalid(attemptsLeft: known.attemptsLeft) }
        // A lockout that the attempt itself has begun does not keep it from being compared.
        let isOwnLockout = known.outcome == nil && known.attemptsLeft == 0
        if !isOwnLockout, let until = stored.lock.lockout(at: now) { throw Self.locked(until, now) }
        return Admitted(
            hash: stored.hash,
            attemptsLeft: known.attemptsLeft,
            earlier: known.outcome,
            isCountedHere: false
        )
    }

    private static func locked(_ until: Date, _ now: Date) -> AuthError {
        .pinLocked(secondsLeft: max(1, Int(until.timeIntervalSince(now).rounded(.up))))
    }

    // MARK: After it

    /// Notes what an attempt under a key gave.
    private func settle(
        _ admitted: Admitted,
        _ outcome: PINTry.Outcome,
        under scope: IdempotencyScope,
        cause: Cause
    ) async throws {
        // It was right, and a right one is remembered beyond a change of the PIN.
        if admitted.earlier == .right {
            guard outcome == .right else { throw AuthError.pinChanged }
            return
        }
        try await self.database.transaction(as: scope.user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(scope.user, in: transaction), stored.hash == admitted.hash
            else { throw AuthError.pinChanged }
            // The equal attempt that was counted was given back meanwhile: what is not counted is not told either.
            guard let known = try await self.tries.find(scope, in: transaction) else { throw AuthError.busy }
            guard known.outcome == nil else { return }
            if outcome == .right {
                stored.lock.succeed()
                try await self.pins.save(stored.lock, of: scope.user, in: transaction)
            } else if admitted.attemptsLeft == 0 {
                try await self.say(stored.lock, of: scope.user, in: transaction)
            }
            try await self.tries.settle(scope, outcome, in: transaction)
        }
    }

    /// The last attempt was wrong: the owner hears that somebody guesses.
    private func tellLockout(_ user: UserID, cause: Cause) async throws {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard let stored = try await self.pins.lock(user, in: transaction) else { return }
            try await self.say(stored.lock, of: user, in: transaction)
        }
    }

    /// Says that the PIN is locked, unless a right attempt at the same moment has cleared that.
    private func say(_ lock: PINLock, of user: UserID, in transaction: EventTransaction) async throws {
        guard let until = lock.lockout(at: transaction.now) else { return }
        let event = PINLocked(userID: user.uuid, lockID: transaction.makeID(), lockedUntil: Timestamp.text(until))
        try await transaction.publish(event, about: user)
    }

    private func clear(_ user: UserID, cause: Cause) async throws {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(user, in: transaction) else { return }
            stored.lock.succeed()
            try await self.pins.save(stored.lock, of: user, in: transaction)
        }
    }

    /// Nothing was compared, so nothing may count: else strangers could lock a user out by making us busy.
    ///
    /// Unless an equal attempt was: then the count is that one's.
    private func giveBack(_ user: UserID, under scope: IdempotencyScope?, cause: Cause) async throws {
        try await self.database.transaction(as: user, cause: cause) { transaction in
            guard var stored = try await self.pins.lock(user, in: transaction) else { return }
            if let scope {
                guard try await self.tries.remove(scope, in: transaction) else { return }
            }
            stored.lock.giveBack()
            try await self.pins.save(stored.lock, of: user, in: transaction)
        }
    }
}

extension SealingError {
    /// The work did not begin.
    var isRefusalOfWork: Bool { self.code == .busy || self.code == .cancelled }
}
