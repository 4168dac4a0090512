import AnchorClient
import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `webhooks` and `provider_evidence`.
struct WebhookStore: Sendable {
    /// What became of a webhook.
    enum Outcome: String, Sendable {
        /// Its event went out with it.
        case published
        /// It is about a customer who is not known yet.
        case waiting
        /// It says nothing that anybody needs.
        case ignored
    }

    /// A verdict that waits for its customer.
    struct Evidence: Sendable {
        let eventID: String
        let verdict: IdentityVerdict
    }

    /// Stores a webhook.
    ///
    /// - Returns: False when it was stored before: then nothing may follow from it.
    func insert(_ event: WebhookEvent, _ outcome: Outcome, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            INSERT INTO webhooks (event_id, type, outcome, created_at, received_at)
            VALUES (\(event.id), \(String(event.type.prefix(100))), \(outcome.rawValue), \(event.createdAt),
                \(transaction.now))
            ON CONFLICT (event_id) DO NOTHING
            RETURNING event_id
            """
        )
        return !rows.isEmpty
    }

    /// Keeps a verdict until its customer is known.
    func keep(_ evidence: Evidence, about customerID: String, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO provider_evidence (event_id, kind, provider_id, verdict, received_at)
            VALUES (\(evidence.eventID), 'identification', \(customerID), \(evidence.verdict.rawValue),
                \(transaction.now))
            """
        )
    }

    /// Takes what waited for a customer, in the order in which it came.
    func take(about customerID: String, in transaction: EventTransaction) async throws -> [Evidence] {
        let rows = try await transaction.query(
            """
            WITH taken AS (
                UPDATE provider_evidence SET published_at = \(transaction.now)
                WHERE provider_id = \(customerID) AND published_at IS NULL
                RETURNING position, event_id, verdict
            )
            SELECT event_id, verdict FROM taken ORDER BY position
            """
        )
        return try rows.compactMap { row in
            let (id, word) = try row.decode(String.self, String.self)
            return IdentityVerdict(rawValue: word).map { Evidence(eventID: id, verdict: $0) }
        }
    }
}
