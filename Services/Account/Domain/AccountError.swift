/// Why account says no.
enum AccountError: Error, Hashable, Sendable {
    /// The provider does not know the user yet, so there is no account to speak of.
    case noAccount
    /// The user's data key was destroyed.
    case erased
}
