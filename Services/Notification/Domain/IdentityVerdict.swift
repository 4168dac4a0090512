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
