/// One thing that happened: a line of the journal.
///
/// Replaying all lines rebuilds the state.
enum Change: Codable, Sendable {
    case customer(Customer)
    case customerUpdated(id: String, name: String, email: String, attributes: String)
    case verificationStarted(customerID: String, plan: VerificationPlan)
    case verificationEnded(customerID: String, plan: VerificationPlan)
    case documentsRequired([RequiredDocument])
    case documentSubmitted(id: String, digest: String, size: Int64, at: Int64)
    case documentDecided(id: String, isApproved: Bool)
    case account(Account)
    case accountNumbered(id: String)
    case accountFrozen(id: String, isFrozen: Bool)
    case counterparty(Counterparty)
    case counterpartyRemoved(id: String)
    case holderNamed(number: String, name: String)
    case transferAccepted(Transfer)
    case transferSettled(id: String, status: Transfer.Status, failureReason: String?, at: Int64)
    case transferAltered(id: String, amount: Int64, at: Int64)
    case inbound(InboundPayment)
    case inboundSettled(id: String, at: Int64)
    case billed(Bill)
    case event(Event)
    case eventEnded(id: String, attempts: Int, isDelivered: Bool, at: Int64)
    case switches(Switches)
    case target(WebhookTarget)
}

/// Where webhooks go.
struct WebhookTarget: Codable, Sendable {
    var id: String
    var url: String
    var token: String
    var isAtLeastOnce = true
    var includesRelated = false
}
