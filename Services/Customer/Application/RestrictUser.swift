import Contracts
import Messaging
import Primitives

/// Carries out an operator's order about what a user may do.
struct RestrictUser: Sendable {
    let users: CustomerUserStore

    /// Restricts the user; the same restriction once more changes nothing.
    ///
    /// - Throws: `CustomerError.userNotFound`.
    func callAsFunction(_ order: RestrictionOrder, user: UserID, in transaction: EventTransaction) async throws {
        guard let known = try await self.users.lock(user, in: transaction) else { throw CustomerError.userNotFound }
        guard known.restriction.value != order.restriction else { return }
        try await self.users.set(order, of: user, in: transaction)
        try await transaction.publish(
            UserRestricted(userID: user.uuid, restriction: Open(order.restriction), reason: order.reason),
            about: user
        )
    }
}
