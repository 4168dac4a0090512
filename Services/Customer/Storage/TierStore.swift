import Foundation
import Messaging
import Postgres
import Primitives

/// A change of tier as it happened.
struct TierChange: Sendable, Equatable {
    let at: Date
    let before: Int
    let after: Int
    let reason: String
    let operatorName: String
}

/// The tier of users and the table `tier_changes`, which nobody rewrites.
struct TierStore: Sendable {
    /// The tier of a user, locked until the transaction ends; nil when there is none, or no longer.
    func lock(_ user: UserID, in transaction: EventTransaction) async throws -> Int? {
        try await transaction.query(
            "SELECT tier FROM users WHERE id = \(user.uuid) AND erased_at IS NULL FOR UPDATE"
        ).first.map { Int(try $0.decode(Int16.self)) }
    }

    /// Changes the tier and writes down who did, why, and by which request.
    func change(
        _ user: UserID,
        from before: Int,
        _ order: TierOrder,
        by operatorName: String,
        in transaction: EventTransaction
    ) async throws {
        try await transaction.query(
            """
            WITH changed AS (
                UPDATE users SET tier = \(Int16(order.tier)), updated_at = \(transaction.now)
                WHERE id = \(user.uuid) RETURNING id
            )
            INSERT INTO tier_changes (user_id, number, changed_at, before, after, reason, operator, request_id)
            SELECT c.id, 1 + coalesce((SELECT max(t.number) FROM tier_changes t WHERE t.user_id = c.id), 0),
                \(transaction.now), \(Int16(before)), \(Int16(order.tier)), \(order.reason), \(operatorName),
                \(transaction.cause.correlationID)
            FROM changed c
            """
        )
    }

    /// The changes of a user's tier, oldest first.
    func changes(of user: UserID, on database: EventDatabase) async throws -> [TierChange] {
        try await database.client.query(
            """
            SELECT changed_at, before, after, reason, operator FROM tier_changes WHERE user_id = \(user.uuid)
            ORDER BY number LIMIT 1000
            """
        ).map { row in
            let (at, before, after, reason, name) = try row.decode(
                Date.self,
                Int16.self,
                Int16.self,
                String.self,
                String.self
            )
            return TierChange(at: at, before: Int(before), after: Int(after), reason: reason, operatorName: name)
        }
    }
}
