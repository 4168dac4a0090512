import Foundation
import Postgres
import Primitives

/// Forecasts of route, fee and duty.
struct QuoteStore: Sendable {
    let client: PostgresClient

    struct Quote: Sendable {
        let route: String
        let fee: Int64
        let duty: Int64
    }

    /// Nil when there is nobody to pay.
    func payment(_ draft: PaymentDraft, from user: UserID) async throws -> Quote? {
        try await self.client.query(
            "SELECT route, fee, duty FROM quote_payment(\(user.uuid), \(draft.recipient), \(draft.amount.kobo))"
        ).first.map { row in
            let (route, fee, duty) = try row.decode(String.self, Int64.self, Int64.self)
            return Quote(route: route, fee: fee, duty: duty)
        }
    }

    /// How the bank is doing that is ahead of a payment or a withdrawal; nil when nothing is known of where it goes.
    func bank(aheadOf recipient: String?, or beneficiary: UUID?, for user: UserID) async throws -> String? {
        try await self.client.query(
            "SELECT bank_ahead(\(user.uuid), \(recipient), \(beneficiary))"
        ).first.flatMap { try $0.decode(String?.self) }
    }

    /// Of an order whose route is given by its kind.
    ///
    /// - Throws: `OrderRefusal.amountBelowMinimum`.
    func fees(of kind: Order.Kind, route: String, amount: Int64) async throws -> Quote {
        let row = try await self.client.query(
            """
            SELECT coalesce(f.fee, 0), coalesce(f.duty, 0), \(amount) < m.amount
            FROM (SELECT transfa_now() AS at) n CROSS JOIN LATERAL bank_minimum(n.at) m
            LEFT JOIN LATERAL fee_for(\(kind.rawValue), \(route), \(amount), n.at) f ON true
            """
        ).first
        guard let row else { throw LedgerContradiction() }
        let (fee, duty, isBelowMinimum) = try row.decode(Int64.self, Int64.self, Bool.self)
        if route == "external", isBelowMinimum { throw OrderRefusal.amountBelowMinimum }
        return Quote(route: route, fee: fee, duty: duty)
    }
}
