import AnchorClient
import Contracts
import Messaging
import Primitives

/// Stores a webhook whose signature was good and publishes what it says, in one transaction: either both or neither, and
/// a second delivery does nothing.
struct TakeWebhook: Sendable {
    let database: EventDatabase
    let webhooks: WebhookStore
    let customers: CustomerStore
    let publishVerdict: PublishVerdict

    /// What is to happen with a webhook.
    private enum Step {
        case ignore
        case transfer(WebhookEvent.TransferFact)
        case payment(WebhookEvent.PaymentFact)
        case account(id: String, customerID: String?)
        case verdict(IdentityVerdict, customerID: String)
    }

    /// Takes an event; true when it was new.
    @discardableResult
    func callAsFunction(_ event: WebhookEvent, cause: Cause) async throws -> Bool {
        let step = Self.step(event.fact)
        return try await self.database.transaction(cause: cause) { transaction in
            guard case .verdict(let verdict, let customerID) = step else {
                let outcome: WebhookStore.Outcome = if case .ignore = step { .ignored } else { .published }
                guard try await self.webhooks.insert(event, outcome, in: transaction) else { return false }
                try await self.publish(step, of: event, in: transaction)
                return true
            }
            return try await self.take(verdict, about: customerID, event, in: transaction)
        }
    }

    private static func step(_ fact: WebhookEvent.Fact) -> Step {
        switch fact {
        case .transfer(let fact): .transfer(fact)
        case .payment(let fact): .payment(fact)
        case .accountOpened(let id, let customer), .accountNumberCreated(let id, let customer):
            .account(id: id, customerID: customer)
        case .identification(let customer, let outcome):
            IdentityVerdict(outcome).map { .verdict($0, customerID: customer) } ?? .ignore
        case .other: .ignore
        }
    }

    private func take(
        _ verdict: IdentityVerdict,
        about customerID: String,
        _ event: WebhookEvent,
        in transaction: EventTransaction
    ) async throws -> Bool {
        try await self.customers.lockID(customerID, in: transaction)
        guard let customer = try await self.customers.find(anchorCustomerID: customerID, in: transaction) else {
            guard try await self.webhooks.insert(event, .waiting, in: transaction) else { return false }
            let evidence = WebhookStore.Evidence(eventID: event.id, verdict: verdict)
            try await self.webhooks.keep(evidence, about: customerID, in: transaction)
            return true
        }
        guard try await self.webhooks.insert(event, .published, in: transaction) else { return false }
        try await self.publishVerdict(verdict, about: customer, in: transaction)
        return true
    }

    private func publish(_ step: Step, of event: WebhookEvent, in transaction: EventTransaction) async throws {
        switch step {
        case .ignore, .verdict: return
        case .transfer(let fact):
            let data = ProviderTransferUpdated(
                anchorTransferID: fact.transferID,
                reference: fact.reference,
                status: Open(fact.outcome.rawValue),
                reason: fact.failureReason,
                providerEventID: event.id
            )
            try await transaction.publish(data, about: fact.reference ?? fact.transferID)
        case .payment(let fact):
            let data = ProviderPaymentReceived(
                providerPaymentID: fact.paymentID,
                anchorAccountID: fact.accountID,
                settled: fact.isSettled,
                providerEventID: event.id
            )
            try await transaction.publish(data, about: fact.paymentID)
        case .account(let id, let customerID):
            let data = ProviderAccountOpened(anchorAccountID: id, anchorCustomerID: customerID)
            try await transaction.publish(data, about: id)
        }
    }
}
