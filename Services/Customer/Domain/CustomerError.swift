/// Why customer says no.
enum CustomerError: Error, Hashable, Sendable {
    /// The user has not signed up, or so recently that the news is still on its way.
    case notOnboarded
    /// The user's data key was destroyed.
    case erased
    /// There is no such user.
    case userNotFound
    /// There is no such beneficiary of this user.
    case beneficiaryNotFound
    /// The user has this bank account already.
    case beneficiaryExists
    /// The user has as many beneficiaries as are allowed.
    case tooManyBeneficiaries
    /// The user has as many beneficiaries as the free plan allows.
    case planNeeded
    /// The user has asked for as many names as are allowed within an hour.
    case tooManyEnquiries
    /// There is no such enquiry of this user.
    case enquiryNotFound
    /// The provider has not said yet which banks there are.
    case banksUnavailable
    /// The bank has not confirmed the account.
    case beneficiaryNotVerified
    /// The bank does not know the account.
    case accountNotFound(RejectReason)
    /// Only merchants may choose to receive only.
    case merchantsOnly
}
