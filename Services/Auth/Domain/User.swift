import Contracts
import Primitives

/// A user as stored; personal details sealed.
struct User: Sendable {
    let id: UserID
    let username: String
    let accountType: AccountType
    let status: OnboardingStatus
    let verification: Open<VerificationStatus>
    let details: SealedDetails
}

/// The details of a user, sealed.
struct SealedDetails: Hashable, Sendable {
    var kyc: Sealed?
    var kyb: Sealed?
    var contact: Sealed?
}
