import Contracts
import Foundation
import ObjectStorage
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
    /// Whether the address in the details is proven, so that the provider may have it.
    var isEmailVerified = false
    /// Whose closed profile this person had.
    var formerSelf: UserID?
    var settings = UserSettings()
    var restriction = Open<Restriction>(.none)
    /// A paid plan counts until then.
    var planUntil: Date?
    /// The image that is shown.
    var image: ImageKey?

    /// Whether a paid plan counts at that moment; its end may not have been heard of yet.
    func hasPlan(at moment: Date) -> Bool { self.planUntil.map { moment < $0 } ?? false }
}

/// The details of a user, sealed by auth and opened in jobs only.
struct SealedDetails: Hashable, Sendable {
    var kyc: Sealed?
    var kyb: Sealed?
    var contact: Sealed?
}
