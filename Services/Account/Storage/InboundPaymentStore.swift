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

    /// Those of the ids under which nothing was credited.
    func uncredited(_ ids: [String], on database: EventDatabase) async throws -> [String] {
        let sql: SQL = "SELECT provider_payment_id FROM inbound_payments WHERE provider_payment_id = ANY (\(ids))"
        let known = try await Set(database.client.query(sql).map { try $0.decode(String.self) })
        return ids.filter { !known.contains($0) }
    }

    /// Whether what was credited instead of this is the same money: this payment, or the provider's other name for it.
    ///
    /// Two ids of one kind are two payments, whatever their references.
    func isSameMoney(_ credit: Credit, in transaction: EventTransaction) async throws -> Bool {
        let rows = try await transaction.query(
            """
            SELECT provider_payment_id, amount FROM inbound_payments
            WHERE provider_payment_id = \(credit.providerPaymentID)
                OR anchor_account_id = \(credit.anchorAccountID) AND provider_reference = \(credit.providerReference)
            """
        )
        return try rows.contains { row in
            let (id, amount) = try row.decode(String.self, Int64.self)
            let isOtherName = Credit.kind(of: id) != Credit.kind(of: credit.providerPaymentID)
            return id == credit.providerPaymentID || isOtherName && amount == credit.amount.kobo
        }
    }

    /// Writes a credit down.
    ///
    /// - Returns: Our id of the payment; nil when its id or its reference was credited before.
    func insert(_ credit: Credit, in transaction: EventTransaction) async throws -> UUID? {
        let id = transaction.makeID()
        let rows = try await transaction.query(
            """
            INSERT INTO inbound_payments (provider_payment_id, payment_id, anchor_account_id, user_id, amount, reference,
                provider_reference, paid_at, credited_at)
            VALUES (\(credit.providerPaymentID), \(id), \(credit.anchorAccountID), \(credit.user.uuid),
                \(credit.amount.kobo), \(credit.reference), \(credit.providerReference), \(credit.paidAt),
                \(transaction.now))
            ON CONFLICT DO NOTHING
            RETURNING payment_id
            """
        )
        return rows.isEmpty ? nil : id
    }
}
