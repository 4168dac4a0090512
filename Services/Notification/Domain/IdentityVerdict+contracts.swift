import Contracts

extension IdentityVerdict {
    /// The word of `customer.rejected`.
    var status: Open<VerificationStatus> {
        self == .reenterInformation ? Open(.rejected) : Open(self.rawValue)
    }

    /// The reason of `customer.rejected`, if the provider gives one.
    var reason: String? { self == .reenterInformation ? self.rawValue : nil }
}
