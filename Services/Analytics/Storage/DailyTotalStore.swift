import Messaging
import Postgres
import Primitives

/// The table `daily_totals` as it is read.
struct DailyTotalStore: Sendable {
    /// What moved in a period, read as the user.
    func sum(_ period: Period, of user: UserID, on database: EventDatabase) async throws -> Totals {
        let sql: SQL = """
            SELECT coalesce(sum(in_wallet), 0)::bigint, coalesce(sum(in_bank), 0)::bigint,
                coalesce(sum(money_out), 0)::bigint, coalesce(sum(fees), 0)::bigint
            FROM daily_totals
            WHERE user_id = \(user.uuid) AND day BETWEEN \(period.from.description)::date
                AND \(period.to.description)::date
            """
        guard let row = try await database.client.query(sql, as: user.uuid).first else { return Totals() }
        let (inWallet, inBank, moneyOut, fees) = try row.decode(Int64.self, Int64.self, Int64.self, Int64.self)
        return Totals(
            inWallet: Money(kobo: inWallet),
            inBank: Money(kobo: inBank),
            moneyOut: Money(kobo: moneyOut),
            fees: Money(kobo: fees)
        )
    }
}
