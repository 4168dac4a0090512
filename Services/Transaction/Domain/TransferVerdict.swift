/// What the provider's word about a transfer means to the ledger.
struct TransferVerdict: Sendable, Equatable {
    /// How the ledger takes it.
    enum Outcome: String, Sendable {
        case completed
        case failed
        case reversed
        /// Nobody knows whether the money moved: it stays held until there is evidence.
        case unknown
        /// The provider has it and has not decided.
        case open
    }

    var outcome: Outcome
    /// A code, when it failed.
    var reason: String?
    /// What says so: a message, an answer, a query.
    ///
    /// Never empty for what moves money.
    var evidence: String
    /// The provider's id of the transfer, once known.
    var providerID: String?
    /// The account of ours that it reached, where a restored ledger has to learn that.
    var destination: String?
    /// The session under which the banks know it, once known.
    var sessionID: String?

    /// Nothing was learnt: no question was asked, or there was no answer.
    ///
    /// It changes nothing, and does not look like an absence either.
    static let noNews = TransferVerdict(outcome: .open, evidence: "no_news")

    /// The provider has none, nor has it later, and the drop that was to pay has no money any more.
    static let absentAndNotCovered = TransferVerdict(
        outcome: .failed,
        reason: "drop_not_covered",
        evidence: "absent_and_not_covered"
    )

    /// The last order was refused, and the provider has none under its reference, nor has it later.
    static let refusedAndAbsent = TransferVerdict(
        outcome: .failed,
        reason: "provider_failed",
        evidence: "refused_and_absent"
    )
}
