import Foundation
import Messaging
import Postgres
import Primitives

/// In whose name and in which session a stream goes on.
struct StreamListener: Hashable, Sendable {
    let user: UserID
    let session: String
}

/// How the inboxes of many people stand, and who may no longer listen, in one question.
struct StreamStore: Sendable {
    /// The inboxes of those who may go on; of a person without messages an empty one, nothing for whoever has closed or in
    /// whose session nobody is signed in any more.
    func states(
        of listeners: Set<StreamListener>,
        on database: EventDatabase
    ) async throws -> [StreamListener: InboxState] {
        let listed = Array(listeners)
        let sql: SQL = """
            SELECT x.user_id, x.session_id, coalesce(b.last_position, 0), coalesce(b.unread, 0), coalesce(b.revision, 0)
            FROM unnest(\(listed.map(\.user.uuid))::uuid[], \(listed.map(\.session))::text[]) AS x(user_id, session_id)
            LEFT JOIN inboxes b ON b.user_id = x.user_id
            WHERE NOT EXISTS (SELECT 1 FROM ended_sessions s
                    WHERE s.user_id = x.user_id AND s.session_id = x.session_id)
                AND NOT EXISTS (SELECT 1 FROM users u
                    WHERE u.id = x.user_id AND (u.closed_at IS NOT NULL OR u.erased_at IS NOT NULL))
            """
        var found: [StreamListener: InboxState] = [:]
        for row in try await database.client.query(sql) {
            let (user, session, last, unread, revision) = try row.decode(
                UUID.self,
                String.self,
                Int64.self,
                Int64.self,
                Int64.self
            )
            let listener = StreamListener(user: UserID(user), session: session)
            found[listener] = InboxState(lastPosition: last, unread: unread, revision: revision)
        }
        return found
    }
}
