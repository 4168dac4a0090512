import Foundation
import Messaging
import Postgres

/// The table `clerk_webhooks`.
struct ClerkWebhookStore: Sendable {
    /// Notes a message; false when it was noted before: then nothing may follow from it.
    func insert(_ id: String, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO clerk_webhooks (message_id, received_at) VALUES (\(id), \(transaction.now))
            ON CONFLICT (message_id) DO NOTHING RETURNING message_id
            """
        )
        return !rows.isEmpty
    }

    /// Forgets messages that came before a time.
    func prune(before moment: Date, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM clerk_webhooks WHERE received_at < \(moment)")
    }
}
