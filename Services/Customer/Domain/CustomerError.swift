/// Why customer says no.
enum CustomerError: Error, Hashable, Sendable {
    /// The user has not signed up, or so recently that the news is still on its way.
    case notOnboarded
    /// The user's data key was destroyed.
    case erased
    /// The user's profile is closed, for good.
    case profileClosed
    /// There is no such user.
    case userNotFound
    /// There is no such document of this user.
    case documentNotFound
    /// The provider waits for no documents of this user.
    case documentsNotWanted
    /// The document was handed in before.
    case documentHandedIn
    /// The provider did not take what was handed in.
    case documentRefused(IdentityDocument.Reason)
    /// There is no such beneficiary of this user.
    case beneficiaryNotFound
    /// People have nothing to decide about this beneficiary.
    case beneficiaryNotInReview
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
    /// Nobody blocks themselves.
    case blockSelf
    /// The user has blocked as many as are allowed.
    case tooManyBlocks
    /// The user has asked for nothing that is held about them, or too long ago.
    case exportNotFound
    /// What was asked for is not collected yet, or could not be.
    case exportNotReady
    /// What was collected is deleted.
    case exportExpired
    /// The user has asked within a day, and may again after so many seconds.
    case exportedToday(wait: Int)
    /// Only merchants may choose to receive only.
    case merchantsOnly
}
