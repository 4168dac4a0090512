import Foundation
import Primitives

/// A customer of the provider who is a user of ours.
struct KnownCustomer: Sendable {
    let user: UserID
    let anchorCustomerID: String
    /// The verdict that was published last.
    var status: String
    var isVerified: Bool
}
