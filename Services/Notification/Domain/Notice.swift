import Foundation
import Primitives

/// A message to a user before it is anywhere.
///
/// Texts hold amounts and no personal data.
struct Notice: Hashable, Sendable {
    let user: UserID
    let kind: NoticeKind
    let body: String
    /// The id of what it is about.
    var subject: String?

    init(_ user: UUID, _ kind: NoticeKind, _ body: String, about subject: UUID? = nil) {
        self.user = UserID(user)
        self.kind = kind
        self.body = body
        self.subject = subject?.lowercased
    }
}

/// A message in the inbox.
struct InboxEntry: Sendable {
    let id: UUID
    /// Where it stands in the person's inbox, counted from 1.
    let position: Int64
    let category: String
    let kind: String
    let title: String
    let body: String
    let subject: String?
    let isRead: Bool
    let createdAt: Date
}

/// How an inbox stands.
struct InboxState: Sendable, Hashable {
    /// The position of the newest message; 0 while there was none.
    var lastPosition: Int64 = 0
    var unread: Int64 = 0
    /// Changes with whatever a client may see.
    var revision: Int64 = 0
}
