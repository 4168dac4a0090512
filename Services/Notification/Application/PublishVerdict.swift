import Contracts
import Messaging
import Primitives

/// Says what the provider has decided about a customer, as it answered when it was asked, to the services and to the
/// person; that a customer is verified is said once and is for ever.
struct PublishVerdict: Sendable {
    let customers: CustomerStore
    let notices: FileNotices

    /// Publishes a verdict, in the transaction that stores where it came from.
    func callAsFunction(
        _ verdict: IdentityVerdict,
        about customer: KnownCustomer,
        in transaction: EventTransaction
    ) async throws {
        let user = customer.user
        if verdict == .approved {
            guard try await self.customers.setVerified(user, in: transaction) else { return }
            let event = CustomerVerified(userID: user.uuid, anchorCustomerID: customer.anchorCustomerID)
            try await transaction.publish(event, about: user)
        } else {
            guard try await self.customers.setStatus(verdict, of: user, in: transaction) else { return }
            let event = CustomerRejected(
                userID: user.uuid,
                anchorCustomerID: customer.anchorCustomerID,
                status: verdict.status,
                reason: verdict.reason
            )
            try await transaction.publish(event, about: user)
        }
        // The person needs no second word of what has not changed.
        guard verdict.rawValue != customer.status else { return }
        try await self.notices([.verdict(verdict, of: user)], about: transaction.makeID(), in: transaction)
    }
}
