import Contracts

extension IdentityVerdict {
    /// The word of `customer.rejected`.
    var status: Open<VerificationStatus> { Open(self.rawValue) }
}
