import Contracts
import Messaging
import Primitives

/// Asks `transaction`, which owns the count of free external transfers, to correct it.
struct AdjustUsage: Sendable {
    let usage: UsageStore

    /// Announces a correction, once per id; the count here follows when `transaction` says what it has become.
    ///
    /// - Returns: The correction as it was announced: when the id is known, the earlier one.
    /// - Throws: `SubscriptionError.adjustmentDiffers`.
    func callAsFunction(
        _ adjustment: Adjustment,
        by operator: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> Adjustment {
        guard try await self.usage.insert(adjustment, in: transaction) else {
            guard let earlier = try await self.usage.adjustment(adjustment.id, in: transaction),
                earlier.user == adjustment.user, earlier.delta == adjustment.delta
            else { throw SubscriptionError.adjustmentDiffers }
            return earlier
        }
        try await transaction.publish(
            UsageAdjusted(
                userID: adjustment.user.uuid,
                adjustmentID: adjustment.id,
                month: adjustment.month.text,
                delta: adjustment.delta
            ),
            about: adjustment.user
        )
        let after = Correction(id: adjustment.id.lowercased, month: adjustment.month.text, delta: adjustment.delta)
        try await transaction.record("usage.adjusted", on: adjustment.user, after: after, by: `operator`)
        return adjustment
    }

    /// What the audit says of it.
    private struct Correction: Encodable, Sendable {
        let id: String
        let month: String
        let delta: Int
    }
}
