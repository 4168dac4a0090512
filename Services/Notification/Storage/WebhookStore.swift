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

    /// Stores webhooks.
    ///
    /// - Returns: The ids of those that were not stored before: nothing may follow from the others.
    func insert(_ events: [(WebhookEvent, Outcome)], in transaction: EventTransaction) async throws -> Set<String> {
        // By id, as another replica does: two batches never wait for each other.
        let sorted = events.sorted { $0.0.id < $1.0.id }
        let rows = try await transaction.query(
            """
            INSERT INTO webhooks (event_id, type, outcome, created_at, received_at)
            SELECT w.id, w.type, w.outcome, w.created_at, \(transaction.now)
            FROM unnest(\(sorted.map(\.0.id)), \(sorted.map { String($0.0.type.prefix(100)) }),
                \(sorted.map(\.1.rawValue)), \(sorted.map(\.0.createdAt))) AS w(id, type, outcome, created_at)
            ON CONFLICT (event_id) DO NOTHING
            RETURNING event_id
            """
        )
        return Set(try rows.map { try $0.decode(String.self) })
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
