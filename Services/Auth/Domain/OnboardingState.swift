import Contracts

/// Where a user stands between sign-up and a wallet, as the user is told.
enum OnboardingState: Hashable, Sendable {
    /// Something the provider needs is missing.
    case awaitingDetails
    /// The provider has the details, or will have them in a moment.
    case pending
    /// The provider wants documents.
    case awaitingDocument
    /// A person at the provider looks at it.
    case manualReview
    /// The wallet is open or opens now.
    case approved
    /// The user has to correct something.
    case rejected(RejectionReason)

    /// What follows from all that is known.
    init(_ user: User) {
        if user.verification == .known(.approved) {
            self = .approved
        } else if user.status == .awaitingDetails {
            self = .awaitingDetails
        } else if let refusal = user.refusal {
            self = .rejected(RejectionReason(rawValue: refusal) ?? .detailsRefused)
        } else {
            self = Self.state(user.verification, reason: user.verificationReason)
        }
    }

    private static func state(_ verification: Open<VerificationStatus>, reason: String?) -> OnboardingState {
        switch verification {
        case .known(.approved): .approved
        case .known(.awaitingDocument): .awaitingDocument
        case .known(.manualReview): .manualReview
        case .known(.rejected): .rejected(reason.flatMap { RejectionReason(rawValue: $0) } ?? .detailsMismatch)
        case .known(.error): .rejected(.checkFailed)
        // A word that this version does not know decides nothing.
        case .known(.pending), .unknown: .pending
        }
    }

    /// The word for clients.
    var word: String {
        switch self {
        case .awaitingDetails: "awaiting_details"
        case .pending: "pending"
        case .awaitingDocument: "awaiting_document"
        case .manualReview: "manual_review"
        case .approved: "approved"
        case .rejected: "rejected"
        }
    }
}

/// Why the details were not verified, and what the user can do.
enum RejectionReason: String, Hashable, Sendable, CaseIterable {
    case detailsMismatch = "details_mismatch"
    case reenterInformation = "reenter_information"
    case phoneInvalid = "phone_invalid"
    case detailsRefused = "details_refused"
    case checkFailed = "check_failed"

    /// What happened and what to do now, for a person.
    var sentence: String {
        switch self {
        case .detailsMismatch:
            "Your details do not match the records for this BVN. Check name, date of birth, gender and phone number, "
                + "and send them again."
        case .reenterInformation: "Some of your details could not be read. Enter them again as they are at your bank."
        case .phoneInvalid: "The phone number was not accepted. Send your details again with the right number."
        case .detailsRefused: "Your details were not accepted. Check each of them and send them again."
        case .checkFailed: "Your details could not be checked this time. Send them again."
        }
    }
}
