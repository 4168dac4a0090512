import Foundation
import Messaging
import Postgres
import Primitives

/// The movements of a fact as columns.
struct MovementRows {
    private let day: CivilDate
    private let part: Int16
    private let movements: [Movement]

    /// - Throws: `EventProblem.undecodableData` for a fact whose time is none.
    init(_ fact: Fact, part: Int) throws {
        guard let day = fact.day else { throw EventProblem.undecodableData }
        self.day = day
        self.part = Int16(part)
        self.movements = try fact.movements()
    }

    var isEmpty: Bool { self.movements.isEmpty }

    /// `moved`: those of the fact in `counted`, in each generation that it is counted in.
    var moved: SQL {
        """
        moved AS (
            INSERT INTO movements (generation, fact_id, user_id, direction, amount, category, counterparty_id, day, part)
            SELECT c.generation, c.id, m.user_id, m.direction, m.amount,
                CASE WHEN m.direction = 'money_out' THEN coalesce(w.category, m.category) ELSE m.category END,
                m.counterparty_id, \(self.day.description)::date, \(self.part)
            FROM counted c
            CROSS JOIN unnest(\(self.movements.map(\.user.uuid)), \(self.movements.map(\.direction.rawValue)),
                \(self.movements.map(\.amount.kobo)), \(self.movements.map(\.category.rawValue)),
                \(self.movements.map { $0.counterparty?.uuid }))
                AS m(user_id, direction, amount, category, counterparty_id)
            LEFT JOIN word_categories w ON w.transaction_id = c.id
            ON CONFLICT DO NOTHING
            RETURNING generation, user_id, day, part, direction, category, amount
        )
        """
    }
}
