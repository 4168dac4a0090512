import Contracts
import Messaging
import Primitives

/// A user has become a customer of the provider: what webhooks said before is asked about now, and should webhooks get
/// lost, a job asks.
struct LearnCustomer: Sendable {
    let customers: CustomerStore
    let webhooks: WebhookStore

    func callAsFunction(_ data: CustomerCreated, in transaction: EventTransaction) async throws {
        try await self.customers.lockID(data.anchorCustomerID, in: transaction)
        try await self.customers.insert(data, in: transaction)
        let found = try await self.customers.find(anchorCustomerID: data.anchorCustomerID, in: transaction)
        guard let customer = found, customer.user == UserID(data.userID) else { return }
        for evidence in try await self.webhooks.take(about: data.anchorCustomerID, in: transaction) {
            try await ConfirmVerdict.ask(about: customer, evidence, in: transaction)
        }
        let user = UserID(data.userID).description
        try await transaction.enqueue(
            NotificationJob.checkCustomer,
            key: user,
            subject: user,
            // Of a customer who was taken over no webhook will tell: the verdict is known.
            after: data.succeeds == nil ? CheckCustomer.headStart : .zero
        )
    }
}
