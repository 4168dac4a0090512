/// Something to do later because of a change.
struct FollowUp: Sendable {
    enum Action: Sendable {
        case settleTransfer(id: String)
        case reverseTransfer(id: String)
        case endVerification(customerID: String)
        case reviewDocuments(customerID: String)
        case numberAccount(id: String)
        case settleInbound(id: String)
        case deliver(Event)
        /// A transfer that is taken only now although its request came long ago.
        case takeLate(body: [UInt8], idempotencyKey: String?)
    }

    var delay: Int64
    var action: Action
}
