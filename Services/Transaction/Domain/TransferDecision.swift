/// How operators want a transfer to end, when evidence does not come.
enum DecidedOutcome: String, Sendable, Decodable {
    /// An unknown transfer has reached its recipient.
    case completed
    /// An unknown transfer has not left.
    case failed
    /// A completed transfer was taken back by the provider, which did not tell.
    case reversed
}

/// Why operators cannot decide so.
enum DecisionRefusal: String, Error, Sendable {
    /// There is no such transfer or proposal.
    case missing
    /// Only an unknown transfer can be settled by people.
    case notUnknown = "not_unknown"
    /// Only what was completed by the provider can be booked as reversed.
    case notReversible = "not_reversible"
    /// One proposal at a time.
    case alreadyProposed = "already_proposed"
    /// Who proposes cannot approve.
    case sameOperator = "same_operator"
    /// It was approved or withdrawn before, or has expired.
    case decided
    /// Nobody approved it in time.
    case expired
    /// The transfer has moved on since, or its order may still arrive.
    case overtaken
    /// The ledger was restored, and does not agree with the provider yet.
    case recovering
}
