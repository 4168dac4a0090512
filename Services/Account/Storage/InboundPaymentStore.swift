import Foundation
import Messaging
import Postgres
import Primitives

/// The table `inbound_payments`: one row per credit, never changed.
struct InboundPaymentStore: Sendable {
    /// Whether a payment was credited.
    func isCredited(_ providerPaymentID: String, on database: EventDatabase) async throws -> Bool {
        let sql: SQL = "SELECT payment_id FROM inbound_payments WHERE provider_payment_id = \(providerPaymentID)"
        return try await !database.client.query(sql).isEmpty
    }

    /// Writes a credit down.
    ///
    /// - Returns: Our id of the payment; nil when it was credited before.
    func insert(_ credit: Credit, in transaction: EventTransaction) async throws -> UUID? {
        let id = transaction.makeID()
        let rows = try await transaction.query(
            """
            INSERT INTO inbound_payments (provider_payment_id, payment_id, anchor_account_id, user_id, amount, reference,
                paid_at, credited_at)
            VALUES (\(credit.providerPaymentID), \(id), \(credit.anchorAccountID), \(credit.user.uuid),
                \(credit.amount.kobo), \(credit.reference), \(credit.paidAt), \(transaction.now))
            ON CONFLICT (provider_payment_id) DO NOTHING
            RETURNING payment_id
            """
        )
        return rows.isEmpty ? nil : id
    }
}
