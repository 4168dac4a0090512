import Foundation
import Messaging
import Postgres
import Primitives

/// The tables `projection` and `rebuilds`.
struct RebuildStore: Sendable {
    /// A row of `facts`.
    struct FactRow {
        let id: UUID
        let type: String?
        let data: String?
        let part: Int
        let isCounted: Bool

        /// The fact, when it counts.
        func counted() throws -> (fact: Fact, part: Int)? {
            guard self.isCounted, let type, let data else { return nil }
            guard let fact = try StoredFact(type: type, data: data).fact() else { return nil }
            return (fact, self.part)
        }
    }

    private static let columns: SQL = """
        generation::bigint, replaces::bigint, done_to, facts, days_changed, started_at, finished_at
        """
    /// Before every id.
    private static let zero = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    /// Rows of a replaced generation that go at once.
    private static let rowsAtOnce: Int64 = 5000

    /// Begins the next generation, once everybody who counts has seen the last state of the projection.
    func begin(in transaction: EventTransaction) async throws -> Rebuild {
        let state = try await transaction.query("SELECT live::bigint, building::bigint FROM projection FOR UPDATE")
        guard let row = state.first else { throw RebuildProblem.noProjection }
        let (live, building) = try row.decode(Int64.self, Int64?.self)
        if let building, let known = try await self.lock(Int(building), in: transaction) { return known }
        let next = live + 1
        let rows = try await transaction.query(
            """
            INSERT INTO rebuilds AS r (generation, replaces, done_to, started_at)
            VALUES (\(Int16(next)), \(Int16(live)), \(Self.zero), \(transaction.now))
            RETURNING \(Self.columns)
            """
        )
        try await transaction.stage("UPDATE projection SET building = \(Int16(next))")
        guard let made = rows.first else { throw RebuildProblem.noProjection }
        return try Self.decode(made)
    }

    /// A rebuild, for this transaction alone.
    func lock(_ generation: Int, in transaction: EventTransaction) async throws -> Rebuild? {
        try await transaction.query(
            "SELECT \(Self.columns) FROM rebuilds WHERE generation = \(Int16(generation)) FOR UPDATE"
        ).first.map(Self.decode)
    }

    /// The newest rebuild.
    func last(on database: EventDatabase) async throws -> Rebuild? {
        try await database.client.query(
            "SELECT \(Self.columns) FROM rebuilds ORDER BY started_at DESC, generation DESC LIMIT 1"
        ).first.map(Self.decode)
    }

    /// The next facts in the order of their ids; their return waits until the transaction ends.
    func facts(after id: UUID, limit: Int, in transaction: EventTransaction) async throws -> [FactRow] {
        try await transaction.query(
            """
            SELECT id, type, data, part::bigint, state = 'counted' FROM facts WHERE id > \(id)
            ORDER BY id LIMIT \(Int64(limit)) FOR SHARE
            """
        ).map { row in
            let (id, type, data, part, isCounted) =
                try row.decode(UUID.self, String?.self, String?.self, Int64.self, Bool.self)
            return FactRow(id: id, type: type, data: data, part: Int(part), isCounted: isCounted)
        }
    }

    func advance(_ rebuild: Rebuild, to id: UUID, by count: Int, in transaction: EventTransaction) async throws {
        try await transaction.stage(
            """
            UPDATE rebuilds SET done_to = \(id), facts = facts + \(Int64(count))
            WHERE generation = \(Int16(rebuild.generation))
            """
        )
    }

    /// Shows the new generation to people, and notes in how many days of users it differs from the old one.
    func finish(_ rebuild: Rebuild, in transaction: EventTransaction) async throws {
        // Alone: whoever counts now waits, so both generations stand still while they are compared.
        try await transaction.stage("SELECT FROM projection FOR UPDATE")
        try await transaction.stage(
            """
            UPDATE rebuilds SET finished_at = \(transaction.now), days_changed = (
                SELECT count(*) FROM \(Self.days(rebuild.generation)) a
                FULL JOIN \(Self.days(rebuild.replaces)) b USING (user_id, day)
                WHERE (a.sums) IS DISTINCT FROM (b.sums)
            ) WHERE generation = \(Int16(rebuild.generation))
            """
        )
        try await transaction.stage(
            "UPDATE projection SET live = \(Int16(rebuild.generation)), building = NULL"
        )
    }

    private static func days(_ generation: Int) -> SQL {
        """
        (SELECT user_id, day, ROW(sum(in_wallet), sum(in_bank), sum(money_out), sum(fees)) AS sums FROM day_totals
            WHERE generation = \(Int16(generation)) GROUP BY user_id, day
            HAVING sum(in_wallet) <> 0 OR sum(in_bank) <> 0 OR sum(money_out) <> 0 OR sum(fees) <> 0)
        """
    }

    /// Deletes some rows of the generation that was replaced, and says how many.
    func deleteReplaced(by rebuild: Rebuild, in transaction: EventTransaction) async throws -> Int {
        for table in ["movements", "day_totals", "day_categories"] {
            let name = SQL(unsafe: table)
            let rows = try await transaction.query(
                """
                WITH gone AS (
                    DELETE FROM \(name) WHERE ctid IN (
                        SELECT ctid FROM \(name) WHERE generation = \(Int16(rebuild.replaces)) LIMIT \(Self.rowsAtOnce))
                    RETURNING 1
                ) SELECT count(*) FROM gone
                """
            )
            if let count = try rows.first?.decode(Int64.self), count > 0 { return Int(count) }
        }
        return 0
    }

    private static func decode(_ row: PostgresRow) throws -> Rebuild {
        let (generation, replaces, doneTo, facts, changed, started, finished) =
            try row.decode(Int64.self, Int64.self, UUID.self, Int64.self, Int64?.self, Date.self, Date?.self)
        return Rebuild(
            generation: Int(generation),
            replaces: Int(replaces),
            doneTo: doneTo,
            facts: Int(facts),
            daysChanged: changed.map(Int.init),
            startedAt: started,
            finishedAt: finished
        )
    }
}

/// Why there is nothing to build.
enum RebuildProblem: Error {
    /// The row of the projection is missing.
    case noProjection
}
