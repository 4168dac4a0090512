/// How the stand-in behaves until told otherwise.
///
/// Every field can be set by `PATCH /sandbox/switches`.
struct Switches: Codable, Sendable {
    enum Duplicates: String, Codable, Sendable {
        /// 409.
        case refuse
        /// A second transfer: money moves twice.
        case accept
        /// The first transfer again.
        case replay
    }

    /// Whose account the provider debits for its service.
    enum Payer: String, Codable, Sendable {
        case organisation
        case customer
    }

    enum Shortage: String, Codable, Sendable {
        /// 400 at once.
        case refuse
        /// Taken, then FAILED with INSUFFICIENT_BALANCE.
        case fail
    }

    var kycDelayMs: Int64 = 200
    var transferDelayMs: Int64 = 100
    var accountNumberDelayMs: Int64 = 50
    var reversalDelayMs: Int64 = 300
    var transferOutcome = TransferPlan.Outcome.completed
    var failureReason = "DO_NOT_HONOR"
    var bookSynchronous = false
    var insufficientFunds = Shortage.refuse
    var duplicateReference = Duplicates.refuse
    var businessDocuments = false

    /// Kobo for each NIP transfer that completes; 0 is no bill.
    var transferFee: Int64 = 0
    /// Kobo for each of them above the next amount.
    var stampDuty: Int64 = 0
    var stampDutyAbove: Int64 = 1_000_000
    /// Kobo for each identification that ends.
    var identityFee: Int64 = 0
    var billsTo = Payer.organisation

    var webhooksEnabled = true
    var webhookWrapped = true
    var webhookCopies: Int64 = 1
    var webhookDelayMs: Int64 = 0
    /// Every n-th event is never sent; 0 is none.
    var webhookLoseEvery: Int64 = 0
    /// Events of these names are never sent.
    var webhookLoseTypes: [String] = []
    /// Every second event waits this much longer, so that it overtakes nothing and is overtaken; 0 is off.
    var webhookReorderMs: Int64 = 0
    /// Signed with another token.
    var webhookForged = false
    /// Changed after signing.
    var webhookAltered = false
    var webhookGzip = false
    var webhookRetryMs: Int64 = 500
    var webhookAttempts: Int64 = 5
    var apnsStatus: Int64 = 200
}
