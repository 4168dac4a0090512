import Contracts
import Foundation
import Messaging
import Postgres
import Primitives

/// What changes about replays.
extension ReplayStore {
    /// Before every id.
    static let beginning = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    /// Begins one.
    ///
    /// - Throws: `UnderWay`.
    func begin(
        _ order: Replay.Order,
        planned: Int64,
        upTo position: Int64,
        by operatorOrder: OperatorOrder,
        in transaction: EventTransaction
    ) async throws -> UUID {
        let (id, now) = (transaction.makeID(), transaction.now)
        let begun = try await transaction.query(
            """
            INSERT INTO replays (id, service, mode, effects, rate, selection, operator, reason, request_id, up_to, planned,
                place, created_at, updated_at, projection)
            VALUES (\(id), \(order.service.rawValue), \(order.mode.rawValue), \(order.effects.rawValue),
                \(Int32(order.rate)), \(try Self.text(of: order.selection)), \(operatorOrder.name),
                \(operatorOrder.reason), \(operatorOrder.request), \(position), \(planned), \(Self.beginning), \(now),
                \(now), \(order.projection))
            ON CONFLICT (service) WHERE state = 'running' DO NOTHING RETURNING id
            """
        )
        if begun.isEmpty { throw UnderWay() }
        return id
    }

    /// The state of one, locked until the transaction ends.
    func lockedState(of id: UUID, in transaction: EventTransaction) async throws -> Replay.State? {
        try await transaction.query("SELECT state FROM replays WHERE id = \(id) FOR UPDATE").first.flatMap { row in
            Replay.State(rawValue: try row.decode(String.self))
        }
    }

    /// Ends one, or lets it go on.
    ///
    /// - Throws: `UnderWay` when another one is under way, which then has to end first.
    func set(
        _ state: Replay.State,
        error: String? = nil,
        of id: UUID,
        in transaction: EventTransaction
    ) async throws {
        do {
            try await transaction.query(
                """
                UPDATE replays SET state = \(state.rawValue), error = \(error), updated_at = \(transaction.now),
                    finished_at = CASE WHEN \(state == .running) THEN NULL ELSE \(transaction.now) END
                WHERE id = \(id)
                """
            )
        } catch let error as PostgresError where error.isUniqueViolation("replays_under_way") {
            throw UnderWay()
        }
    }

    /// Ends one that is still running.
    func end(_ replay: Replay, _ state: Replay.State, error: String? = nil, on database: EventDatabase) async throws {
        try await database.transaction(cause: Cause()) { transaction in
            guard try await self.lockedState(of: replay.id, in: transaction) == .running else { return }
            try await self.set(state, error: error, of: replay.id, in: transaction)
        }
    }

    /// Says why one waits.
    func note(_ error: String?, of replay: Replay, on database: EventDatabase) async throws {
        try await database.transaction(cause: Cause()) { transaction in
            try await transaction.stage(
                """
                UPDATE replays SET error = \(error), updated_at = \(transaction.now)
                WHERE id = \(replay.id) AND state = 'running' AND error IS DISTINCT FROM \(error)
                """
            )
        }
    }

    /// Takes note of what a service has answered.
    ///
    /// - Returns: Whether it was still running, and nobody else had gone on with it meanwhile.
    func advance(
        _ replay: Replay,
        to place: UUID,
        _ progress: ReplayProgress,
        on database: EventDatabase
    ) async throws -> Bool {
        try await database.transaction(cause: Cause()) { transaction in
            let counts = progress.counts
            let rows = try await transaction.query(
                """
                UPDATE replays SET place = \(place), done = done + \(counts.done), applied = applied + \(counts.applied),
                    known = known + \(counts.known), refused = refused + \(counts.refused),
                    failed = failed + \(counts.failed), differing = differing + \(counts.differing),
                    changes = least(changes + \(Int64(progress.changes.count)), \(Self.keptChanges)),
                    problems = least(problems + \(Int64(progress.troubles.count)), \(Self.keptProblems)),
                    error = NULL, updated_at = \(transaction.now)
                WHERE id = \(replay.id) AND state = 'running' AND place = \(replay.place)
                RETURNING changes, problems
                """
            )
            guard let (changes, problems) = try rows.first?.decode(Int64.self, Int64.self) else { return false }
            try await self.keep(progress, of: replay, changes, problems, transaction)
            return true
        }
    }

    /// Numbers go on behind those that are kept; what is too much is left out.
    private func keep(
        _ progress: ReplayProgress,
        of replay: Replay,
        _ changes: Int64,
        _ problems: Int64,
        _ transaction: EventTransaction
    ) async throws {
        try await transaction.stage(
            """
            INSERT INTO replay_changes (replay_id, number, kind, body)
            SELECT \(replay.id), k.number + c.ordinal, c.kind, c.body
            FROM unnest(\(progress.changes.map(\.kind)), \(progress.changes.map(\.body))) WITH ORDINALITY
                AS c(kind, body, ordinal),
                (SELECT coalesce(max(number), 0) AS number FROM replay_changes WHERE replay_id = \(replay.id)) k
            WHERE k.number + c.ordinal <= \(changes)
            """
        )
        let troubles = progress.troubles
        try await transaction.stage(
            """
            INSERT INTO replay_problems (replay_id, number, event_id, type, subject, outcome, reason)
            SELECT \(replay.id), k.number + t.ordinal, t.event, t.type, t.subject, t.outcome, t.reason
            FROM unnest(\(troubles.map(\.event)), \(troubles.map(\.type)), \(troubles.map(\.subject)),
                \(troubles.map(\.outcome)), \(troubles.map(\.reason))) WITH ORDINALITY
                AS t(event, type, subject, outcome, reason, ordinal),
                (SELECT coalesce(max(number), 0) AS number FROM replay_problems WHERE replay_id = \(replay.id)) k
            WHERE k.number + t.ordinal <= \(problems)
            """
        )
    }

    /// Forgets what ended long ago, with what it found; the audit keeps that it was.
    func forget(before moment: Date, in transaction: EventTransaction) async throws {
        try await transaction.stage("DELETE FROM replays WHERE finished_at < \(moment)")
    }
}
