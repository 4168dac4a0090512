import Contracts
import Messaging
import Primitives

/// Asks `transaction` to take a plan's price.
struct AskForCharge: Sendable {
    let charges: ChargeStore

    /// Asks for it, unless the period was paid before.
    ///
    /// - Returns: Whether it was asked for.
    func callAsFunction(_ charge: Charge, in transaction: EventTransaction) async throws -> Bool {
        guard let attempt = try await self.charges.open(charge, in: transaction) else { return false }
        try await transaction.publish(
            SubscriptionChargeRequested(
                userID: charge.user.uuid,
                reference: charge.reference,
                attempt: attempt,
                plan: charge.plan.name,
                amount: charge.amount.kobo
            ),
            about: charge.user
        )
        return true
    }
}
