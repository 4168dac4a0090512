import Contracts
import Messaging
import Primitives

/// Carries out an operator's order about a user's tier: limits follow at once, up or down.
struct ChangeTier: Sendable {
    let tiers: TierStore

    /// Changes the tier; the same tier once more changes nothing.
    ///
    /// - Throws: `CustomerError.userNotFound`.
    func callAsFunction(
        _ order: TierOrder,
        user: UserID,
        by audited: OperatorOrder,
        in transaction: EventTransaction
    ) async throws {
        guard let before = try await self.tiers.lock(user, in: transaction) else { throw CustomerError.userNotFound }
        guard before != order.tier else { return }
        try await self.tiers.change(user, from: before, order, by: audited.name, in: transaction)
        try await transaction.publish(
            UserTierChanged(userID: user.uuid, tier: order.tier, before: before, reason: order.reason),
            about: user
        )
        try await transaction.record(
            "user.tier_changed",
            on: user,
            before: ["tier": before],
            after: ["tier": order.tier],
            by: audited
        )
    }
}
