import Contracts
import Messaging
import Primitives

/// Frees what tells a person from all others for another account: the old one was lost, or an impostor opened it.
///
/// Lifts the bar of somebody who was shut out, too.
struct ReleaseIdentity: Sendable {
    let users: UserStore
    let closeProfile: CloseProfile
    var marks = MarkStore()

    /// Frees it; once more changes nothing.
    ///
    /// Whoever got a second account with it would have two sets of limits: the first must be frozen or rejected, and is
    /// closed, so that neither an end of the freeze nor a late approval lets it go on.
    /// - Throws: `AuthError.userNotFound`, `AuthError.notFrozen`.
    func callAsFunction(_ user: UserID, by order: OperatorOrder, in transaction: EventTransaction) async throws {
        guard let held = try await self.users.lockIdentity(user, in: transaction) else {
            throw AuthError.userNotFound
        }
        let wasBarred = try await self.marks.unbar(user, in: transaction)
        guard held.isHeld || wasBarred else { return }
        guard held.mayBeFreed || !held.isHeld else { throw AuthError.notFrozen }
        // Nobody comes back as an impostor.
        try await self.marks.forget(user, in: transaction)
        try await self.users.releaseIdentity(user, in: transaction)
        try await self.closeProfile(user, in: transaction)
        try await transaction.record(
            "user.identity_released",
            on: user,
            before: ["held": true],
            after: ["held": false],
            by: order
        )
    }
}
