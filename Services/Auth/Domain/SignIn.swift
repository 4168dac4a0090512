/// What is known of a subject of the identity provider.
struct SignIn: Hashable, Sendable {
    /// Keyed hashes of the addresses and numbers that it has verified.
    var verified: Set<String> = []
    /// It was deleted there: nobody signs in with it any more, and nobody signs up.
    var isDeleted = false
}
