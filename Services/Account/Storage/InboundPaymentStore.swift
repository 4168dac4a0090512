import AnchorClient
import Foundation
import Messaging
import Postgres
import Primitives

/// What is written down of money from outside, each once: `inbound_payments` has the credits, `unmatched_payments` what was
/// told as nobody's.
///
/// Rows never change.
struct InboundPaymentStore: Sendable {
    /// Whether a payment is written down under this id.
    func isKnown(_ providerPaymentID: String, on database: EventDatabase) async throws -> Bool {
        try await self.unknown([providerPaymentID], on: database).isEmpty
    }

    /// Those of the ids under which nothing is written down.
    func unknown(_ ids: [String], on database: EventDatabase) async throws -> [String] {
        let sql: SQL = """
            SELECT provider_payment_id FROM inbound_payments WHERE provider_payment_id = ANY (\(ids))
            UNION ALL SELECT provider_payment_id FROM unmatched_payments WHERE provider_payment_id = ANY (\(ids))
            """
        let known = try await Set(database.client.query(sql).map { try $0.decode(String.self) })
        return ids.filter { !known.contains($0) }
    }

    /// What was written down before that stands in the way of a payment; nil: nothing.
    ///
    /// From here to the commit nobody else writes down a payment on this account. The provider has two names for the same
    /// money, whose jobs run at once, and the account may become known between them: no index spans both tables.
    func earlier(
        than payment: InboundPayment,
        on account: String,
        in transaction: EventTransaction
    ) async throws -> EarlierPayment? {
        try await transaction.query("SELECT pg_advisory_xact_lock(hashtextextended(\(account), 7301))")
        let reference = Credit.providers(payment.reference)
        let rows = try await transaction.query(
            """
            SELECT provider_payment_id, amount FROM inbound_payments
            WHERE provider_payment_id = \(payment.id)
                OR anchor_account_id = \(account) AND provider_reference = \(reference)
            UNION ALL SELECT provider_payment_id, amount FROM unmatched_payments
            WHERE provider_payment_id = \(payment.id)
                OR anchor_account_id = \(account) AND provider_reference = \(reference)
            """
        )
        let earlier = try rows.map { row in
            let (id, amount) = try row.decode(String.self, Int64.self)
            return EarlierPayment(of: payment, id: id, amount: amount)
        }
        return earlier.contains(.sameMoney) ? .sameMoney : earlier.first
    }

    // MARK: Nobody's

    /// Writes down that a payment is nobody's; nothing is in the way.
    func insert(_ payment: UnmatchedPayment, in transaction: EventTransaction) async throws {
        try await transaction.query(
            """
            INSERT INTO unmatched_payments (provider_payment_id, anchor_account_id, amount, provider_reference, paid_at,
                told_at)
            VALUES (\(payment.providerPaymentID), \(payment.anchorAccountID), \(payment.amount.kobo),
                \(payment.providerReference), \(payment.paidAt), \(transaction.now))
            """
        )
    }

    // MARK: Credits

    /// Writes a credit down; nothing is in the way.
    ///
    /// - Returns: Our id of the payment; nil when its id or its reference was credited before, as the last line.
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
