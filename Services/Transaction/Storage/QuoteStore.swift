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
    func fees(of kind: Order.Kind, route: String, amount: Int64) async throws -> Quote {
        let row = try await self.client.query(
            "SELECT fee, duty FROM fee_for(\(kind.rawValue), \(route), \(amount), transfa_now())"
        ).first
        guard let row else { return Quote(route: route, fee: 0, duty: 0) }
        let (fee, duty) = try row.decode(Int64.self, Int64.self)
        return Quote(route: route, fee: fee, duty: duty)
    }
}
