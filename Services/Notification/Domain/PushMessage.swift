import Foundation
import Primitives

/// A push to one phone, before it is sent.
///
/// It passes through Apple and lies open on the lock screen: it says what happened in general words, and amounts only to
/// those who asked for them. It never holds a name, a number of an account or a word that a person wrote.
struct PushMessage: Hashable, Sendable {
    /// The same for every attempt to send it.
    let id: UUID
    /// The phone.
    let token: String
    let title: String
    let body: String
    /// Groups messages on the phone.
    let category: NoticeCategory
    let kind: String
    let notificationID: UUID
    let subject: String?
    let unread: Int64
    /// Apple drops it when the phone was not reached by then.
    let expires: Date

    /// Namespace of push ids.
    private static let namespace = UUID(
        uuid: (0x2d, 0x0a, 0x7c, 0x11, 0x58, 0x43, 0x4f, 0x6a, 0x9d, 0x2e, 0x71, 0x30, 0xb8, 0x5c, 0xe4, 0x96)
    )

    /// The id of the push of a message to a phone.
    static func id(of notification: UUID, to token: UUID) -> UUID {
        UUID.v5(namespace: Self.namespace, name: "\(notification.lowercased):\(token.lowercased)")
    }

    /// Money and security at once, the rest when it saves the battery.
    var isUrgent: Bool { self.category.isAlwaysHeard }
}

/// What became of a push.
enum PushOutcome: Hashable, Sendable {
    /// Apple has it.
    case taken
    /// The phone no longer has this token, as Apple knows since a moment; nil when it never had it.
    case tokenGone(since: Date?)
    /// Not now.
    case later(reason: String, after: Duration?)
    /// Never.
    case refused(reason: String)
}
