import Messaging
import Postgres
import Primitives

/// The table `day_totals` as it is read.
struct TotalStore: Sendable {
    private static let columns: SQL = """
        coalesce(sum(in_wallet), 0)::bigint, coalesce(sum(in_bank), 0)::bigint, coalesce(sum(money_out), 0)::bigint,
        coalesce(sum(fees), 0)::bigint
        """

    /// What moved in a period, read as the user.
    func sum(_ period: LagosPeriod, of user: UserID, on database: EventDatabase) async throws -> Totals {
        let sql: SQL = """
            SELECT \(Self.columns) FROM day_totals
            WHERE generation = \(MoneyProjection.live) AND user_id = \(user.uuid)
                AND day BETWEEN \(period.from.description)::date AND \(period.to.description)::date
            """
        guard let row = try await database.client.query(sql, as: user.uuid).first else { return Totals() }
        let (inWallet, inBank, moneyOut, fees) = try row.decode(Int64.self, Int64.self, Int64.self, Int64.self)
        return Self.totals(inWallet, inBank, moneyOut, fees)
    }

    /// What moved on each day of a period on which something moved.
    func days(_ period: LagosPeriod, of user: UserID, on database: EventDatabase) async throws -> [CivilDate: Totals] {
        let sql: SQL = """
            SELECT day - date '1970-01-01', \(Self.columns) FROM day_totals
            WHERE generation = \(MoneyProjection.live) AND user_id = \(user.uuid)
                AND day BETWEEN \(period.from.description)::date AND \(period.to.description)::date
            GROUP BY day
            """
        var days: [CivilDate: Totals] = [:]
        for row in try await database.client.query(sql, as: user.uuid) {
            let (day, inWallet, inBank, moneyOut, fees) =
                try row.decode(Int32.self, Int64.self, Int64.self, Int64.self, Int64.self)
            days[CivilDate(daysSince1970: Int(day))] = Self.totals(inWallet, inBank, moneyOut, fees)
        }
        return days
    }

    private static func totals(_ inWallet: Int64, _ inBank: Int64, _ moneyOut: Int64, _ fees: Int64) -> Totals {
        Totals(
            inWallet: Money(kobo: inWallet),
            inBank: Money(kobo: inBank),
            moneyOut: Money(kobo: moneyOut),
            fees: Money(kobo: fees)
        )
    }
}
