import AnchorClient
import Contracts
import Messaging
import Primitives

/// Stores a webhook whose signature was good and publishes what it says, in one transaction: either both or neither, and
/// a second delivery does nothing.
///
/// What it says about an identity is a hint, that starts a job to ask the provider.
struct TakeWebhook: Sendable {
    let database: EventDatabase
    let webhooks: WebhookStore
    let customers: CustomerStore

    /// What is to happen with a webhook.
    private enum Step {
        case ignore
        case transfer(WebhookEvent.TransferFact)
        case payment(WebhookEvent.PaymentFact)
        case account(id: String, customerID: String?)
        case verdict(IdentityVerdict, customerID: String)

        /// What its event is about.
        var subject: String {
            switch self {
            case .ignore: ""
            case .transfer(let fact): fact.reference ?? fact.transferID
            case .payment(let fact): fact.paymentID
            case .account(let id, _): id
            case .verdict(_, let customerID): customerID
            }
        }
    }

    /// Takes an event; true when it was new.
    @discardableResult
    func callAsFunction(_ event: WebhookEvent, cause: Cause) async throws -> Bool {
        guard case .verdict(let verdict, let customerID) = Self.step(event.fact) else {
            return try await self.all([Arrival(event: event, cause: cause)])[0]
        }
        return try await self.database.transaction(cause: cause) { transaction in
            try await self.take(verdict, about: customerID, event, in: transaction)
        }
    }

    /// A message that has arrived.
    struct Arrival: Sendable {
        let event: WebhookEvent
        let cause: Cause
    }

    /// Whether a message may be taken together with others: a verdict waits for the lock of its customer.
    static func isPlain(_ event: WebhookEvent) -> Bool {
        if case .verdict = Self.step(event.fact) { false } else { true }
    }

    /// Takes plain messages in one transaction, each with its own cause.
    ///
    /// - Returns: For each whether it was new.
    func all(_ arrivals: [Arrival]) async throws -> [Bool] {
        let steps = arrivals.map { Self.step($0.event.fact) }
        let outcomes = steps.map { step -> WebhookStore.Outcome in
            if case .ignore = step { .ignored } else { .published }
        }
        return try await self.database.transaction(cause: arrivals[0].cause) { transaction in
            var new = try await self.webhooks.insert(Array(zip(arrivals.map(\.event), outcomes)), in: transaction)
            let isNew = arrivals.map { new.remove($0.event.id) != nil }
            // By subject, as another replica's batch does: both lock the same subjects in the same order.
            let order = arrivals.indices.filter { isNew[$0] }.sorted {
                (steps[$0].subject, $0) < (steps[$1].subject, $1)
            }
            for index in order {
                let own = transaction.caused(by: arrivals[index].cause)
                try await self.publish(steps[index], of: arrivals[index].event, in: own)
            }
            return isNew
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
        case .documentRejected(let customer): .verdict(.awaitingDocument, customerID: customer)
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
            guard try await self.isNew(event, .waiting, in: transaction) else { return false }
            let evidence = WebhookStore.Evidence(eventID: event.id, verdict: verdict)
            try await self.webhooks.keep(evidence, about: customerID, in: transaction)
            return true
        }
        guard try await self.isNew(event, .published, in: transaction) else { return false }
        let hint = WebhookStore.Evidence(eventID: event.id, verdict: verdict)
        try await ConfirmVerdict.ask(about: customer, hint, in: transaction)
        return true
    }

    private func isNew(
        _ event: WebhookEvent,
        _ outcome: WebhookStore.Outcome,
        in transaction: EventTransaction
    ) async throws -> Bool {
        try await !self.webhooks.insert([(event, outcome)], in: transaction).isEmpty
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
