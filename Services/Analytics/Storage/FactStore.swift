import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The projection `money` as it is written: the table `facts` says which transfers count, the others what they moved.
///
/// Statements write to the generations that the event is aimed at. The state of a fact decides whether its movements
/// count, in the statement that counts them.
struct FactStore: Sendable {
    /// Counts a fact, unless it was counted or taken back before.
    func add(_ fact: Fact, part: Int, in transaction: EventTransaction) async throws {
        let rows = try MovementRows(fact, part: part)
        guard !rows.isEmpty else { return }
        try await transaction.stage(
            """
            WITH counted AS (
                INSERT INTO facts (generation, id, state) SELECT g, \(fact.id), 'counted' FROM \(Projection.generations) g
                ON CONFLICT DO NOTHING RETURNING generation, id
            ), \(rows.moved), \(Self.addToTotals)
            """
        )
    }

    /// Takes back exactly what was counted; what is counted only later then never counts.
    func takeBack(_ id: UUID, in transaction: EventTransaction) async throws {
        // Waits for a completion that is being counted at this moment; only the next statement sees its movements.
        try await transaction.stage(
            """
            INSERT INTO facts (generation, id, state) SELECT g, \(id), 'taken_back' FROM \(Projection.generations) g
            ON CONFLICT (generation, id) DO UPDATE SET state = 'taken_back'
            """
        )
        try await transaction.stage(
            """
            WITH moved AS (
                DELETE FROM movements m USING \(Projection.generations) g WHERE m.generation = g AND m.fact_id = \(id)
                RETURNING m.generation, m.user_id, m.day, m.part, m.direction, m.category, -m.amount AS amount
            ), \(Self.addToTotals)
            """
        )
    }

    /// Puts what a user spent in a transfer into the category that its words speak for.
    ///
    /// The transaction must have joined the projection: a rebuild that has this fact in hand is waited for.
    func note(_ category: Category, of id: UUID, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            INSERT INTO word_categories (transaction_id, category) VALUES (\(id), \(category.rawValue))
            ON CONFLICT (transaction_id) DO NOTHING
            """
        )
        try await transaction.stage(
            """
            WITH old AS (
                SELECT m.* FROM movements m JOIN \(Projection.generations) g ON m.generation = g
                WHERE m.fact_id = \(id) AND m.direction = 'money_out' AND m.category <> \(category.rawValue)
                FOR UPDATE OF m
            ), turned AS (
                UPDATE movements m SET category = \(category.rawValue) FROM old o
                WHERE m.generation = o.generation AND m.fact_id = o.fact_id AND m.user_id = o.user_id
                    AND m.direction = o.direction
                RETURNING m.generation, m.user_id, m.day, m.part, m.direction, m.category, m.amount
            ), moved AS (
                SELECT generation, user_id, day, part, direction, category, amount FROM turned
                UNION ALL
                SELECT generation, user_id, day, part, direction, category, -amount FROM old
            ), \(Self.addToTotals)
            """
        )
    }

    // MARK: Statements

    /// Adds the rows of `moved`, always in the order of users.
    private static let addToTotals: SQL = """
        totals AS (
            INSERT INTO day_totals AS d (generation, user_id, day, part, in_wallet, in_bank, money_out, fees)
            SELECT generation, user_id, day, part,
                coalesce(sum(amount) FILTER (WHERE direction = 'in_wallet'), 0),
                coalesce(sum(amount) FILTER (WHERE direction = 'in_bank'), 0),
                coalesce(sum(amount) FILTER (WHERE direction = 'money_out'), 0),
                coalesce(sum(amount) FILTER (WHERE direction = 'fees'), 0)
            FROM moved GROUP BY generation, user_id, day, part ORDER BY generation, user_id, day
            ON CONFLICT (generation, user_id, day, part) DO UPDATE SET in_wallet = d.in_wallet + excluded.in_wallet,
                in_bank = d.in_bank + excluded.in_bank, money_out = d.money_out + excluded.money_out,
                fees = d.fees + excluded.fees
        )
        INSERT INTO day_categories AS d (generation, user_id, day, part, category, money_in, money_out)
        SELECT generation, user_id, day, part, category,
            coalesce(sum(amount) FILTER (WHERE direction IN ('in_wallet', 'in_bank')), 0),
            coalesce(sum(amount) FILTER (WHERE direction IN ('money_out', 'fees')), 0)
        FROM moved GROUP BY generation, user_id, day, part, category
        ORDER BY generation, user_id, day, category
        ON CONFLICT (generation, user_id, day, part, category) DO UPDATE SET money_in = d.money_in + excluded.money_in,
            money_out = d.money_out + excluded.money_out
        """
}
