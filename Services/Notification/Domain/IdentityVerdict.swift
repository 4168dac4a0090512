import AnchorClient

/// What the provider has decided about a customer: the word is the one that contracts use.
enum IdentityVerdict: String, Sendable {
    case approved
    case rejected
    case awaitingDocument = "awaiting_document"
    case manualReview = "manual_review"
    case error

    /// What a webhook says; nil while nothing is decided.
    init?(_ outcome: WebhookEvent.IdentificationOutcome) {
        switch outcome {
        case .approved: self = .approved
        // The data must be entered again: for us the same as a refusal.
        case .rejected, .reenterInformation: self = .rejected
        case .error: self = .error
        case .manualReview: self = .manualReview
        case .awaitingDocument: self = .awaitingDocument
        case .pending: return nil
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
