import AnchorClient

/// What the provider has decided about a customer: the word is the one that contracts use.
enum IdentityVerdict: String, Sendable {
    case approved
    case rejected
    /// For us a refusal too, with a reason of its own.
    case reenterInformation = "reenter_information"
    case awaitingDocument = "awaiting_document"
    case manualReview = "manual_review"
    case error

    /// What a webhook says; nil while nothing is decided.
    init?(_ outcome: WebhookEvent.IdentificationOutcome) {
        switch outcome {
        case .approved: self = .approved
        case .rejected: self = .rejected
        case .reenterInformation: self = .reenterInformation
        case .error: self = .error
        case .manualReview: self = .manualReview
        case .awaitingDocument: self = .awaitingDocument
        case .pending: return nil
        }
    }

    /// What counts of a hint, when the provider was asked; nil: it says nothing of the kind, or not yet.
    ///
    /// Where its answer has no word for what a webhook can say, the hint is what it says more exactly: the person has to
    /// do something, and nothing is given.
    func confirmed(by status: VerificationStatus) -> IdentityVerdict? {
        switch (self, IdentityVerdict(status)) {
        case (.reenterInformation, .rejected?), (.reenterInformation, nil), (.awaitingDocument, nil), (.error, nil):
            self
        case (_, let answered): answered
        }
    }

    /// What the provider answers when asked; nil while nothing is decided.
    init?(_ status: VerificationStatus) {
        switch status {
        case .approved: self = .approved
        case .rejected: self = .rejected
        case .manualReview: self = .manualReview
        case .unverified, .pending, .other: return nil
        }
    }
}
