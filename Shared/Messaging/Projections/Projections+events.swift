import Contracts
public import Foundation
import Postgres
import Primitives

/// What comes from the archive.
extension Projections {
    /// Applies a page of events to the generation that is being made.
    ///
    /// Those that it has already, that wait parked, or that the projection does not depend on, change nothing.
    ///
    /// - Parameters:
    ///   - envelopes: Events as they were published, `maximumPage` at the most.
    ///   - name: Of which projection.
    ///   - replay: Whose rebuild it is.
    /// - Returns: How many took effect.
    /// - Throws: `RebuildProblem`; `PostgresError` and `PostgresTransactionError` for what passes: the page can be
    ///   sent again.
    public func take(_ envelopes: [Data], for name: String, of replay: UUID) async throws -> Int {
        precondition(envelopes.count <= Self.maximumPage, "a page is longer than agreed")
        let projection = try self.projection(name)
        let all = try envelopes.enumerated().map { index, envelope throws(RebuildProblem) in
            guard let event = IncomingEvent(body: envelope) else { throw .notAnEvent(line: index + 1) }
            return event
        }
        let events = all.filter { projection.entries[$0.attributes.type] != nil }
        do {
            return try await self.database.transaction(cause: Cause()) { transaction in
                try await Self.apply(events, of: projection, replay, transaction)
            }
        } catch let problem as EventProblem {
            throw RebuildProblem.notApplicable(reason: problem.rawValue)
        } catch  where Self.isAboutTheEvents(error) {
            throw RebuildProblem.notApplicable(reason: BatchProcessor.code(of: error))
        }
    }

    private static func apply(
        _ events: [IncomingEvent],
        of projection: Projection,
        _ replay: UUID,
        _ transaction: EventTransaction
    ) async throws -> Int {
        let name = projection.name
        guard let building = try await Self.lock(name, transaction).building,
            let rebuild = try await Self.rebuild(name, building, transaction), rebuild.replay == replay
        else { throw RebuildProblem.notUnderWay }
        let new = try await Self.mark(events, name, building, transaction)
        try await transaction.stage("SELECT set_config('transfa.generations', \(String(building)), true)")
        for event in new {
            guard let entry = projection.entries[event.attributes.type] else { continue }
            if let problem = event.problem(expecting: entry.majorVersion) { throw problem }
            try await entry.apply(event.attributes, event.body, transaction.caused(by: event.cause))
        }
        try await transaction.stage(
            """
            UPDATE projection_rebuilds SET applied = applied + \(Int64(new.count)),
                known = known + \(Int64(events.count - new.count)),
                first_event_at = least(first_event_at, \(new.compactMap(\.moment).min()))
            WHERE name = \(name) AND generation = \(building)
            """
        )
        return new.count
    }

    /// Notes that the generation has these events; those that it had not, in their order.
    private static func mark(
        _ events: [IncomingEvent],
        _ name: String,
        _ generation: Int16,
        _ transaction: EventTransaction
    ) async throws -> [IncomingEvent] {
        let ids = Array(Set(events.map(\.attributes.id)))
        guard !ids.isEmpty else { return [] }
        let marked = try await transaction.query(
            """
            INSERT INTO projection_events (name, generation, event_id)
            SELECT \(name), \(generation), u.id FROM unnest(\(ids)) AS u(id)
            WHERE u.id NOT IN (SELECT p.id FROM put_aside(\(ids)) AS p(id))
            ORDER BY u.id
            ON CONFLICT DO NOTHING RETURNING event_id
            """
        )
        var new = Set(try marked.map { try $0.decode(UUID.self) })
        return events.filter { new.remove($0.attributes.id) != nil }
    }

    /// Whether sending the page again would end the same way: a value that no row can hold (22), or a broken rule (23).
    private static func isAboutTheEvents(_ error: any Error) -> Bool {
        guard !BatchProcessor.isPassing(error), let state = PostgresError.first(in: error)?.sqlState else {
            return false
        }
        return state.hasPrefix("22") || state.hasPrefix("23")
    }

    // MARK: Whether it is whole

    /// How many events that the service has handled are not in the generation, counted up to the first day that has such.
    func missing(_ projection: Projection, _ rebuild: ProjectionRebuild) async throws -> Int {
        let days = try await self.database.client.query(
            "SELECT d::date::text FROM generate_series(oldest_inbox_day(), newest_inbox_day(), interval '1 day') d"
        ).map { try $0.decode(String.self) }
        let types = projection.types.map(\.rawValue)
        for day in days {
            // A statement per day: each must stay within the time that a statement has.
            let rows = try await self.database.client.query(
                """
                SELECT count(*) FROM inbox i WHERE i.day = \(day)::date AND i.type = ANY(\(types)) AND i.outcome = 'handled'
                    AND NOT EXISTS (SELECT FROM projection_events e WHERE e.name = \(projection.name)
                        AND e.generation = \(Int16(rebuild.generation)) AND e.event_id = i.id)
                """
            )
            if let count = try rows.first?.decode(Int64.self), count > 0 { return Int(count) }
        }
        return 0
    }

    /// Longer than this nobody waits for a number that is good to know.
    private static let patience = Duration.seconds(4)

    /// In how many rows both generations differ; nil when that takes long to find out.
    ///
    /// Every event that is heard goes into both in one commit, so they can be compared while more come.
    func rowsChanged(_ projection: Projection, _ rebuild: ProjectionRebuild) async -> Int? {
        await withTaskGroup(of: Int?.self) { group in
            group.addTask { await self.difference(projection, rebuild) }
            group.addTask {
                try? await Task.sleep(for: Self.patience)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    private func difference(_ projection: Projection, _ rebuild: ProjectionRebuild) async -> Int? {
        var changed = 0
        for table in projection.tables {
            let (new, old) = (
                Self.rows(of: table, rebuild.generation), Self.rows(of: table, rebuild.replaces)
            )
            let rows = try? await self.database.client.query(
                """
                SELECT count(*) FROM ((\(new) EXCEPT ALL \(old)) UNION ALL (\(old) EXCEPT ALL \(new))) AS x
                """
            )
            guard let count = try? rows?.first?.decode(Int64.self) else { return nil }
            changed += Int(count)
        }
        return changed
    }

    private static func rows(of table: String, _ generation: Int) -> SQL {
        "SELECT to_jsonb(t) - 'generation' FROM \(SQL(unsafe: table)) t WHERE generation = \(Int16(generation))"
    }
}

extension IncomingEvent {
    /// The moment in its id.
    fileprivate var moment: Date? { self.attributes.id.version7Milliseconds.map(Date.init(millisecondsSince1970:)) }
}
