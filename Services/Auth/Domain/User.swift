import Contracts
import Primitives

/// A user as stored; personal details sealed.
struct User: Sendable {
    let id: UserID
    let username: String
    let accountType: AccountType
    let status: OnboardingStatus
    let verification: Open<VerificationStatus>
    /// The code that came with the verdict.
    var verificationReason: String?
    /// The code with which the provider did not take the details that are stored.
    var refusal: String?
    let details: SealedDetails
}

/// The details of a user, sealed.
struct SealedDetails: Hashable, Sendable {
    var kyc: Sealed?
    var kyb: Sealed?
    var contact: Sealed?
}
