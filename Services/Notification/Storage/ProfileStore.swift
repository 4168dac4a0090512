import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit

/// The table `closed_profiles`: whose profile is closed, as customer and auth say.
struct ProfileStore: Sendable {
    /// How the profile of whoever asks stands; who is not known here may have signed up a moment ago.
    func state(of user: UserID, on database: EventDatabase) async throws -> ProfileState {
        let sql: SQL = "SELECT 1 FROM closed_profiles WHERE user_id = \(user.uuid)"
        return try await database.client.query(sql, as: user.uuid).isEmpty ? .open : .closed
    }

    /// A profile was closed; once more, or heard before its sign-up, changes nothing: closed is the last word.
    func close(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO closed_profiles (user_id, closed_at) VALUES (\(user.uuid), \(transaction.now))
            ON CONFLICT (user_id) DO NOTHING
            """
        )
    }
}
