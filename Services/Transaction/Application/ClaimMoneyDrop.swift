import Foundation
import Messaging
import Primitives
import Sealing

/// A person claims their part of a drop.
struct ClaimMoneyDrop: Sendable {
    let store: MoneyDropStore
    let hasher: PINHasher

    /// Checks the password, if the drop has one, and gives the hash it was checked against.
    ///
    /// Before the claim's transaction, which must not wait for a hash; the claim compares the hash again. A try is counted
    /// and committed before its hash is computed, so tries at the same time cannot exceed what a drop takes.
    ///
    /// - Throws: `MoneyDropRefusal.unknown`, `DropPasswordProblem`, `BusyHashing`.
    func checkedHash(_ drop: UUID, by user: UserID, password: String?) async throws -> String? {
        guard let known = try await self.store.password(of: drop, for: user) else { throw MoneyDropRefusal.unknown }
        guard let hash = known.hash else { return nil }
        guard known.wait == 0 else { throw DropPasswordProblem.tooMany(wait: known.wait) }
        guard let password else { throw DropPasswordProblem.missing }
        let wait = try await self.store.countTry(of: drop, by: user)
        guard wait == 0 else { throw DropPasswordProblem.tooMany(wait: wait) }
        let isRight: Bool
        do {
            isRight = try await self.hasher.verify(MoneyDropDraft.composed(password), against: hash)
        } catch {
            try await self.store.giveBackTry(of: drop, by: user)
            throw BusyHashing()
        }
        guard isRight else { throw DropPasswordProblem.wrong }
        try await self.store.giveBackTry(of: drop, by: user)
        return hash
    }

    /// Takes a slot and orders its payment.
    ///
    /// - Throws: `MoneyDropRefusal`.
    func callAsFunction(
        _ drop: UUID,
        by user: UserID,
        passwordHash: String?,
        in transaction: EventTransaction
    ) async throws -> MoneyDropStore.Claimed {
        try await self.store.claim(drop, by: user, passwordHash: passwordHash, in: transaction)
    }
}

/// Why a drop's password did not open it.
enum DropPasswordProblem: Error, Equatable {
    case missing
    case wrong
    /// Seconds to wait.
    case tooMany(wait: Int)
}
