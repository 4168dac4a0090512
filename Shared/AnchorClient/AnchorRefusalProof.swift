/// What a refusal proves about an order to move money.
public enum AnchorRefusalProof: Sendable, Hashable {
    /// The call was not taken, by what the provider documents.
    case certain
    /// The call was not taken as it seems; asking by reference proves it.
    case likely
}

extension AnchorError {
    /// What it proves about the order that was refused; nil: nothing, the order may have been taken.
    ///
    /// A list of what is certain, because everything else gives back money that may have left: an unknown status, words
    /// that may tell of an earlier order, a refusal nobody could read. It is about this call alone: an earlier one of
    /// the same order may have been taken.
    public var refusalProof: AnchorRefusalProof? {
        switch self {
        case .refused(let status, _, let code):
            switch status {
            case _ where code.mayTellOfEarlier: nil
            case 400, 412: .certain
            // Not among the statuses that the provider documents: only what is understood counts.
            case 422: code == .other ? .likely : .certain
            default: nil
            }
        // No such account or counterparty, or nobody to take the order.
        case .notFound: .likely
        case .unauthorised, .rateLimited, .unavailable, .timedOut, .connectionLost, .cancelled, .circuitOpen,
            .malformed:
            nil
        }
    }

    /// Whether the request certainly never left.
    public var neverLeft: Bool {
        switch self {
        case .timedOut(let sent), .connectionLost(let sent), .cancelled(let sent): !sent
        case .circuitOpen: true
        case .refused, .notFound, .unauthorised, .rateLimited, .unavailable, .malformed: false
        }
    }
}
