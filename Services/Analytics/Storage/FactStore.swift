import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// The table `facts`, and the projection as it is written.
///
/// The state of a fact decides whether its movements count, in the statement that counts them.
struct FactStore: Sendable {
    /// Counts a fact, in every generation there is, unless it was counted or taken back before.
    func add(_ fact: Fact, part: Int, in transaction: EventTransaction) async throws {
        let rows = try MovementRows([(fact, part)])
        guard !rows.isEmpty else { return }
        let stored = try StoredFact(fact)
        try await transaction.stage(
            """
            WITH heard AS (
                INSERT INTO facts AS f (id, type, data, part, state, updated_at)
                VALUES (\(fact.id), \(stored.type), \(stored.data), \(Int16(part)), 'counted', \(transaction.now))
                ON CONFLICT (id) DO UPDATE SET type = excluded.type, data = excluded.data WHERE f.type IS NULL
                RETURNING id, state
            ), counted AS (
                SELECT id FROM heard WHERE state = 'counted'
            ), \(Self.allGenerations), \(rows.moved), \(Self.addToTotals)
            """
        )
    }

    /// Takes back exactly what was counted; what is counted only later then never counts.
    func takeBack(_ id: UUID, part: Int, in transaction: EventTransaction) async throws {
        // Waits for a completion that is being counted at this moment; only the next statement sees its movements.
        try await transaction.stage(
            """
            INSERT INTO facts (id, part, state, updated_at)
            VALUES (\(id), \(Int16(part)), 'taken_back', \(transaction.now))
            ON CONFLICT (id) DO UPDATE SET state = 'taken_back', updated_at = excluded.updated_at
            """
        )
        try await transaction.stage(
            """
            WITH \(Self.allGenerations), moved AS (
                DELETE FROM movements m USING generations g WHERE m.generation = g.generation AND m.fact_id = \(id)
                RETURNING m.generation, m.user_id, m.day, m.part, m.direction, m.category, -m.amount AS amount
            ), \(Self.addToTotals)
            """
        )
    }

    /// Puts what a user spent in a transfer into the category that its words speak for.
    func note(_ category: Category, of id: UUID, in transaction: EventTransaction) async throws {
        // A rebuild that has this fact in hand is waited for: only then its movements are seen.
        try await transaction.stage("SELECT FROM facts WHERE id = \(id) FOR UPDATE")
        try await transaction.stage(
            """
            INSERT INTO word_categories (transaction_id, category) VALUES (\(id), \(category.rawValue))
            ON CONFLICT (transaction_id) DO NOTHING
            """
        )
        try await transaction.stage(
            """
            WITH \(Self.allGenerations), old AS (
                SELECT m.* FROM movements m JOIN generations g USING (generation)
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

    // MARK: Rebuilding

    /// Counts facts in the generation that is being built, as far as it does not have them yet.
    func project(_ facts: [(fact: Fact, part: Int)], in transaction: EventTransaction) async throws {
        let rows = try MovementRows(facts)
        guard !rows.isEmpty else { return }
        try await transaction.stage(
            """
            WITH counted AS (
                SELECT x.id FROM unnest(\(facts.map(\.fact.id))) AS x(id)
            ), generations AS (
                SELECT building AS generation FROM projection WHERE building IS NOT NULL
            ), \(rows.moved), \(Self.addToTotals)
            """
        )
    }

    // MARK: Statements

    private static let allGenerations: SQL = """
        generations AS (
            SELECT g.generation FROM (SELECT live, building FROM projection FOR SHARE) p
            CROSS JOIN LATERAL (VALUES (p.live), (p.building)) AS g(generation)
            WHERE g.generation IS NOT NULL
        )
        """

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
