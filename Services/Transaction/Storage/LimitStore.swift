import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What people may send and hold.
struct LimitStore: Sendable {
    let client: PostgresClient

    /// Nil when the ledger does not know the person.
    func limits(of user: UserID) async throws -> LimitsResource? {
        let rows = try await self.client.query(
            """
            SELECT u.tier, coalesce(l.per_transfer, 0), coalesce(l.per_day, 0), coalesce(l.per_month, 0),
                CASE WHEN l.tier IS NULL THEN 0 ELSE l.maximum_balance END, o.per_transfer, o.per_day, o.per_month,
                CASE WHEN s.day < lagos_day(n.at) THEN 0 ELSE s.day_total END,
                CASE WHEN s.month < month_of(lagos_day(n.at)) THEN 0 ELSE s.month_total END
            FROM users u CROSS JOIN (SELECT transfa_now() AS at) n
            JOIN spending_counters s ON s.user_id = u.id
            LEFT JOIN LATERAL limits_of(u.tier, n.at) l ON true
            LEFT JOIN user_limits o ON o.user_id = u.id
            WHERE u.id = \(user.uuid)
            """,
            as: user.uuid
        )
        return try rows.first.map { row in
            let (tier, transfer, day, month, ceiling, ownTransfer, ownDay, ownMonth, today, thisMonth) =
                try row.decode(
                    Int16.self,
                    Int64.self,
                    Int64.self,
                    Int64.self,
                    Int64?.self,
                    Int64?.self,
                    Int64?.self,
                    Int64?.self,
                    Int64.self,
                    Int64.self
                )
            return LimitsResource(
                tier: Int(tier),
                perTransfer: transfer,
                perDay: day,
                perMonth: month,
                maximumBalance: ceiling,
                own: OwnLimits(perTransfer: ownTransfer, perDay: ownDay, perMonth: ownMonth),
                sentToday: today,
                sentThisMonth: thisMonth
            )
        }
    }

    /// Replaces a person's own limits and spends the approval's nonce.
    ///
    /// - Throws: `LimitProblem`.
    func set(_ limits: OwnLimits, of user: UserID, nonce: UUID, in transaction: EventTransaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT set_own_limits(\(user.uuid), \(limits.perTransfer), \(limits.perDay), \(limits.perMonth), \(nonce))
            """
        )
        guard let outcome = try rows.first?.decode(String.self) else { throw LedgerContradiction() }
        if let problem = LimitProblem(rawValue: outcome) { throw problem }
    }
}

/// Why limits were not changed.
enum LimitProblem: String, Error {
    case senderUnknown = "sender_unknown"
    case approvalUsed = "approval_used"
}
