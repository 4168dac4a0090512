import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit

/// The table `users`: whose profile is closed, as customer and auth say.
struct ProfileStore: Sendable {
    /// How the profile of whoever asks stands; who is not known here may have signed up a moment ago.
    func state(of user: UserID, on database: EventDatabase) async throws -> ProfileState {
        let sql: SQL = """
            SELECT 1 FROM users WHERE id = \(user.uuid) AND (closed_at IS NOT NULL OR erased_at IS NOT NULL)
            """
        return try await database.client.query(sql, as: user.uuid).isEmpty ? .open : .closed
    }
}
