import Contracts
import ObjectStorage
import Primitives

/// What anybody who is signed in may know of a user.
struct Profile: Hashable, Sendable {
    let id: UserID
    /// Lower case.
    let username: String
    let accountType: Open<AccountType>
    var image: ImageKey?
}
