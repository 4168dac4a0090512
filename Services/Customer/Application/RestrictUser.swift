import Contracts
import Messaging
import Primitives

/// Carries out an order about what a user may do: an operator's, or what follows from an event.
struct RestrictUser: Sendable {
    let users: CustomerUserStore

    /// Restricts the user; the same restriction once more changes nothing.
    ///
    /// - Throws: `CustomerError.userNotFound`, `erased`; `profileClosed`: closed is the last word.
    func callAsFunction(
        _ order: RestrictionOrder,
        user: UserID,
        by operator: OperatorOrder?,
        in transaction: EventTransaction
    ) async throws {
        guard let known = try await self.users.lock(user, in: transaction) else { throw CustomerError.userNotFound }
        guard known.restriction.value != order.restriction else { return }
        guard !known.isErased else {
            // Gone is more than closed.
            if order.restriction == .closed { return }
            throw CustomerError.erased
        }
        guard known.restriction.value != .closed else { throw CustomerError.profileClosed }
        try await self.users.set(order, of: user, in: transaction)
        try await transaction.publish(
            UserRestricted(userID: user.uuid, restriction: Open(order.restriction), reason: order.reason),
            about: user
        )
        // What follows from an event needs nobody.
        guard let `operator` else { return }
        try await transaction.record(
            "user.restricted",
            on: user,
            before: ["restriction": known.restriction.text],
            after: ["restriction": order.restriction.rawValue],
            by: `operator`
        )
    }
}
