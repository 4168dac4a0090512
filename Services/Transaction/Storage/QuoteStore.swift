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
