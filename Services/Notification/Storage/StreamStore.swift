import Foundation
import Messaging
import Postgres
import Primitives

/// How the inboxes of many people stand, in one question.
struct StreamStore: Sendable {
    /// The inboxes there are; a person without messages has none.
    func states(of people: Set<UserID>, on database: EventDatabase) async throws -> [UserID: InboxState] {
        let sql: SQL = """
            SELECT user_id, last_position, unread, revision FROM inboxes WHERE user_id = ANY(\(people.map(\.uuid)))
            """
        var found: [UserID: InboxState] = [:]
        for row in try await database.client.query(sql) {
            let (user, last, unread, revision) = try row.decode(UUID.self, Int64.self, Int64.self, Int64.self)
            found[UserID(user)] = InboxState(lastPosition: last, unread: unread, revision: revision)
        }
        return found
    }
}
