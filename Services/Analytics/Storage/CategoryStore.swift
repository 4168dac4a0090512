import Foundation
import Messaging
import Postgres
import Primitives

/// Categories as they are read, and as their user changes them.
struct CategoryStore: Sendable {
    /// What moved per category, most first.
    ///
    /// The days hold what was found automatically; the few transfers for which the user has chosen are moved over.
    func totals(_ period: LagosPeriod, of user: UserID, on database: EventDatabase) async throws -> [CategoryTotal] {
        let days: SQL = "day BETWEEN \(period.from.description)::date AND \(period.to.description)::date"
        let sql: SQL = """
            WITH live AS (SELECT live AS generation FROM projections WHERE name = 'money'),
            chosen AS (
                SELECT m.category AS automatic, c.category AS chosen,
                    CASE WHEN m.direction IN ('in_wallet', 'in_bank') THEN m.amount ELSE 0 END AS money_in,
                    CASE WHEN m.direction = 'money_out' THEN m.amount ELSE 0 END AS money_out
                FROM chosen_categories c JOIN movements m ON m.fact_id = c.transaction_id AND m.user_id = c.user_id
                WHERE c.user_id = \(user.uuid) AND m.generation = (SELECT generation FROM live)
                    AND m.direction <> 'fees' AND m.category <> c.category AND m.\(days)
            )
            SELECT category, sum(money_in)::bigint, sum(money_out)::bigint FROM (
                SELECT category, money_in, money_out FROM day_categories
                WHERE generation = (SELECT generation FROM live) AND user_id = \(user.uuid) AND \(days)
                UNION ALL SELECT automatic, -money_in, -money_out FROM chosen
                UNION ALL SELECT chosen, money_in, money_out FROM chosen
            ) x
            GROUP BY category HAVING sum(money_in) <> 0 OR sum(money_out) <> 0
            ORDER BY sum(money_in) + sum(money_out) DESC, category
            """
        return try await database.client.query(sql, as: user.uuid).map { row in
            let (category, moneyIn, moneyOut) = try row.decode(String.self, Int64.self, Int64.self)
            return CategoryTotal(category: category, moneyIn: Money(kobo: moneyIn), moneyOut: Money(kobo: moneyOut))
        }
    }

    /// The category of a transfer; nil when the user has none that counts.
    func category(
        of transfer: UUID,
        for user: UserID,
        in transaction: EventTransaction
    ) async throws -> CategoryOfTransfer? {
        let rows = try await transaction.query(
            """
            SELECT m.category, c.category FROM movements m
            LEFT JOIN chosen_categories c ON c.transaction_id = m.fact_id AND c.user_id = m.user_id
            WHERE m.generation = \(MoneyProjection.live) AND m.fact_id = \(transfer) AND m.user_id = \(user.uuid)
                AND m.direction <> 'fees'
            """
        )
        guard let row = rows.first else { return nil }
        let (automatic, chosen) = try row.decode(String.self, String?.self)
        return CategoryOfTransfer(automatic: automatic, chosen: chosen)
    }

    /// Keeps what the user chose; nil goes back to the automatic one.
    func choose(
        _ category: Category?,
        for transfer: UUID,
        of user: UserID,
        in transaction: EventTransaction
    ) async throws {
        guard let category else {
            try await transaction.stage(
                "DELETE FROM chosen_categories WHERE user_id = \(user.uuid) AND transaction_id = \(transfer)"
            )
            return
        }
        try await transaction.stage(
            """
            INSERT INTO chosen_categories (user_id, transaction_id, category, updated_at)
            VALUES (\(user.uuid), \(transfer), \(category.rawValue), \(transaction.now))
            ON CONFLICT (user_id, transaction_id) DO UPDATE SET category = excluded.category,
                updated_at = excluded.updated_at
            """
        )
    }
}
