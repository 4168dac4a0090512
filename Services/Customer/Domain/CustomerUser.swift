import Contracts
import Primitives

/// A user as customer knows one; personal details sealed.
struct CustomerUser: Sendable {
    let id: UserID
    var username: String?
    var accountType: Open<AccountType>?
    var details = SealedDetails()
    /// The sequence of the newest event from auth; changes whenever the details do.
    var authSequence: Int64 = 0
    var isErased = false
    var verification = Open<VerificationStatus>(.pending)
    var anchorCustomerID: String?
    var settings = UserSettings()
    var restriction = Open<Restriction>(.none)
}

/// The details of a user, sealed by auth and opened in jobs only.
struct SealedDetails: Hashable, Sendable {
    var kyc: Sealed?
    var kyb: Sealed?
    var contact: Sealed?
}
