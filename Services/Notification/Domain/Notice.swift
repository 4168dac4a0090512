import Foundation
import Primitives

/// A message to a user before it is in the inbox.
///
/// Texts hold amounts and no personal data.
struct Notice: Hashable, Sendable {
    let user: UserID
    let kind: String
    let title: String
    let body: String
    /// The id of what it is about.
    var subject: String?

    init(_ user: UUID, _ kind: String, _ title: String, _ body: String, about subject: String? = nil) {
        self.user = UserID(user)
        self.kind = kind
        self.title = title
        self.body = body
        self.subject = subject
    }
}

/// A message in the inbox.
struct InboxEntry: Sendable {
    let id: UUID
    let kind: String
    let title: String
    let body: String
    let subject: String?
    let isRead: Bool
    let createdAt: Date
}
