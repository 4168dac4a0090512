import HTTPTypes
import Primitives
import ServiceKit

extension EntityTag {
    /// Names a state of a user's inbox, and of nobody else's.
    ///
    /// The path does not say whose inbox it is, and revisions of two people are equal numbers: who signs in on the same
    /// phone would be told that what is kept there still stands. A hash, for the tag lies about in caches.
    init(revision: Int64, of user: UserID) { self.init(of: Array("inbox \(user) \(revision)".utf8)) }

    var notModified: APIResponse { APIResponse(.notModified, headers: self.privateHeaders) }
}
