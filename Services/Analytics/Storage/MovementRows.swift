import Foundation
import Messaging
import Postgres
import Primitives

/// The movements of some facts as columns.
struct MovementRows {
    private var facts: [UUID] = []
    private var parts: [Int16] = []
    private var days: [String] = []
    private var movements: [Movement] = []

    /// - Throws: `EventProblem.undecodableData` for a fact whose time is none.
    init(_ facts: [(fact: Fact, part: Int)]) throws {
        for (fact, part) in facts {
            guard let day = fact.day else { throw EventProblem.undecodableData }
            for movement in try fact.movements() {
                self.facts.append(fact.id)
                self.parts.append(Int16(part))
                self.days.append(day.description)
                self.movements.append(movement)
            }
        }
    }

    var isEmpty: Bool { self.movements.isEmpty }

    /// `moved`: those of facts in `counted` that a generation in `generations` does not have yet.
    var moved: SQL {
        """
        moved AS (
            INSERT INTO movements (generation, fact_id, user_id, direction, amount, category, counterparty_id, day, part)
            SELECT g.generation, c.id, m.user_id, m.direction, m.amount,
                CASE WHEN m.direction = 'money_out' THEN coalesce(w.category, m.category) ELSE m.category END,
                m.counterparty_id, m.day::date, m.part
            FROM generations g CROSS JOIN counted c
            JOIN unnest(\(self.facts), \(self.movements.map(\.user.uuid)), \(self.movements.map(\.direction.rawValue)),
                \(self.movements.map(\.amount.kobo)), \(self.movements.map(\.category.rawValue)),
                \(self.movements.map { $0.counterparty?.uuid }), \(self.days), \(self.parts))
                AS m(fact_id, user_id, direction, amount, category, counterparty_id, day, part) ON m.fact_id = c.id
            LEFT JOIN word_categories w ON w.transaction_id = c.id
            ON CONFLICT DO NOTHING
            RETURNING generation, user_id, day, part, direction, category, amount
        )
        """
    }
}
