import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// An attempt to take a plan's price, as a job carries it.
struct ChargeOrder: Sendable, Codable {
    var user: UUID
    var reference: String
    var attempt: Int
    var amount: Int64
    var correlation: UUID?
    var traceparent: String?
}

/// Charges of subscriptions: one call of one database function with the whole batch, first in its transaction.
struct ChargeStore: Sendable {
    /// What became of an attempt.
    enum Result: String, Sendable {
        case paid
        case refused
        /// It was answered before.
        case known
        /// Nothing was done: what is known about the person is too old.
        case stale
    }

    /// The results are in the order of the orders.
    func charge(_ orders: [ChargeOrder], in transaction: EventTransaction) async throws -> [Result] {
        try await transaction.query(
            """
            SELECT result FROM charge_subscriptions(\(orders.map { _ in transaction.makeID() }),
                \(orders.map(\.reference)), \(orders.map { Int32(clamping: $0.attempt) }), \(orders.map(\.user)),
                \(orders.map(\.amount)), \(orders.map(\.correlation))::uuid[], \(orders.map(\.traceparent))::text[])
            ORDER BY ord
            """
        ).map { row in
            guard let result = Result(rawValue: try row.decode(String.self)) else { throw LedgerContradiction() }
            return result
        }
    }
}
