import Messaging
import Postgres
import Primitives

/// Whom the user pays and is paid by, and their names.
struct CounterpartyStore: Sendable {
    /// Those with the most money that way, most first.
    func top(
        _ count: Int,
        by flow: Flow,
        _ period: LagosPeriod,
        of user: UserID,
        on database: EventDatabase
    ) async throws -> [CounterpartyTotal] {
        let order: SQL = flow == .in ? "money_in" : "money_out"
        let way: SQL = flow == .in ? "IN ('in_wallet', 'in_bank')" : "= 'money_out'"
        let sql: SQL = """
            SELECT n.username, t.money_in, t.money_out, t.payments FROM (
                SELECT counterparty_id, count(*) AS payments,
                    coalesce(sum(amount) FILTER (WHERE direction IN ('in_wallet', 'in_bank')), 0)::bigint AS money_in,
                    coalesce(sum(amount) FILTER (WHERE direction = 'money_out'), 0)::bigint AS money_out
                FROM movements
                WHERE generation = \(MoneyProjection.live) AND user_id = \(user.uuid)
                    AND counterparty_id IS NOT NULL
                    AND day BETWEEN \(period.from.description)::date AND \(period.to.description)::date
                GROUP BY counterparty_id
                HAVING sum(amount) FILTER (WHERE direction \(way)) > 0
                ORDER BY \(order) DESC, counterparty_id LIMIT \(Int64(count))
            ) t LEFT JOIN names n ON n.user_id = t.counterparty_id
            ORDER BY t.\(order) DESC, t.counterparty_id
            """
        return try await database.client.query(sql, as: user.uuid).map { row in
            let (name, moneyIn, moneyOut, payments) =
                try row.decode(String?.self, Int64.self, Int64.self, Int64.self)
            return CounterpartyTotal(
                username: name,
                moneyIn: Money(kobo: moneyIn),
                moneyOut: Money(kobo: moneyOut),
                payments: Int(payments)
            )
        }
    }

    /// A user has this name, which never changes.
    func learn(_ username: String, of user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO names (user_id, username) VALUES (\(user.uuid), \(username))
            ON CONFLICT (user_id) DO NOTHING
            """
        )
    }

    /// Forgets the name of a user, and what they have chosen; what they moved stays, without a name.
    func forget(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO names (user_id) VALUES (\(user.uuid))
            ON CONFLICT (user_id) DO UPDATE SET username = NULL
            """
        )
        try await transaction.stage("DELETE FROM chosen_categories WHERE user_id = \(user.uuid)")
    }
}
