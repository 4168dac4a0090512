import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `effects` and `movements`, and `daily_totals` as it is written.
///
/// The state of an effect decides whether its movements count, in the statement that counts them.
struct MovementStore: Sendable {
    /// Counts an effect unless it was counted or taken back before.
    func add(_ effect: Effect, in transaction: EventTransaction) async throws {
        guard !effect.movements.isEmpty else { return }
        let movements = effect.movements
        try await transaction.stage(
            """
            WITH fresh AS (
                INSERT INTO effects (id, state, updated_at) VALUES (\(effect.id), 'counted', \(transaction.now))
                ON CONFLICT (id) DO NOTHING
                RETURNING id
            ), moved AS (
                INSERT INTO movements (transaction_id, user_id, direction, amount, day, part)
                SELECT f.id, m.user_id, m.direction, m.amount, \(effect.day.description)::date, \(Int16(effect.part))
                FROM fresh f, unnest(\(movements.map(\.user.uuid)), \(movements.map(\.direction.rawValue)),
                    \(movements.map(\.amount.kobo))) AS m(user_id, direction, amount)
                RETURNING user_id, day, part, direction, amount
            )
            \(Self.addToTotals)
            """
        )
    }

    /// Takes back exactly what was counted; what is counted only later then never counts.
    func takeBack(_ id: UUID, in transaction: EventTransaction) async throws {
        // Waits for a completion that is being counted at this moment; only the next statement sees its movements.
        try await transaction.stage(
            """
            INSERT INTO effects (id, state, updated_at) VALUES (\(id), 'taken_back', \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at
            """
        )
        try await transaction.stage(
            """
            WITH turned AS (
                UPDATE effects SET state = 'taken_back' WHERE id = \(id) AND state = 'counted'
                RETURNING id
            ), moved AS (
                SELECT m.user_id, m.day, m.part, m.direction, -m.amount AS amount
                FROM turned t JOIN movements m ON m.transaction_id = t.id
            )
            \(Self.addToTotals)
            """
        )
    }

    /// Adds the rows of `moved`, always in the order of users.
    private static let addToTotals: SQL = """
        INSERT INTO daily_totals AS d (user_id, day, part, in_wallet, in_bank, money_out, fees)
        SELECT user_id, day, part,
            coalesce(sum(amount) FILTER (WHERE direction = 'in_wallet'), 0),
            coalesce(sum(amount) FILTER (WHERE direction = 'in_bank'), 0),
            coalesce(sum(amount) FILTER (WHERE direction = 'money_out'), 0),
            coalesce(sum(amount) FILTER (WHERE direction = 'fees'), 0)
        FROM moved GROUP BY user_id, day, part ORDER BY user_id
        ON CONFLICT (user_id, day, part) DO UPDATE SET in_wallet = d.in_wallet + excluded.in_wallet,
            in_bank = d.in_bank + excluded.in_bank, money_out = d.money_out + excluded.money_out,
            fees = d.fees + excluded.fees
        """
}
