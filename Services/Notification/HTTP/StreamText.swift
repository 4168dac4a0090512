import Contracts
import Foundation
import ServiceKit

/// The texts of a stream, in the form that HTML defines for server-sent events.
///
/// The id of an event is a position in the person's inbox: whatever comes after it can be asked for with it.
enum StreamText {
    /// How the inbox stands; its id lets a client resume that never saw a message.
    static func begin(_ state: InboxState, at position: Int64, retry: Int) throws -> String {
        try "retry: \(retry)\n" + Self.event("ready", id: position, Self.count(state))
    }

    /// Too much was missed: read the inbox, and go on from here.
    static func reset(_ state: InboxState) throws -> String {
        try Self.event("reset", id: state.lastPosition, Self.count(state))
    }

    /// A message.
    static func message(_ entry: InboxEntry) throws -> String {
        try Self.event("notification", id: entry.position, NotificationResource(entry))
    }

    /// How many messages are unread has changed.
    static func unread(_ state: InboxState) throws -> String {
        try Self.event("unread", id: nil, Self.count(state))
    }

    /// A comment, so that nobody between us takes the connection for dead.
    static let heartbeat = ": still here\n\n"

    /// When to come back.
    static func end(retry: Int) -> String { "retry: \(retry)\n\n" }

    private static func count(_ state: InboxState) -> UnreadCount { UnreadCount(unread: Int(state.unread)) }

    private static func event(_ name: String, id: Int64?, _ data: some Encodable) throws -> String {
        // One line: the encoder writes line feeds of texts as \n.
        let json = String(decoding: try APIResponse.encoder().encode(data), as: UTF8.self)
        return (id.map { "id: \($0)\n" } ?? "") + "event: \(name)\ndata: \(json)\n\n"
    }
}
