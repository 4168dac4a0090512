import Contracts
import Foundation
import Logging
import Postgres
import Primitives

/// Runs the handlers on events in a transaction that is rolled back, and says what they would have changed.
///
/// In it the events' inbox rows are gone, the jobs that the first handling asked for too, and the guards of sequences are
/// open (`RaisedSequence`). What is compared is the present: a handler whose rule has not changed finds everything as it is.
struct DryRun: Sendable {
    let handlers: EventHandlers
    let database: EventDatabase
    let logger: Logger

    /// It waits for nobody for long; others wait for the rows that it has written until it is rolled back, so whoever asks
    /// sends few events at once.
    private static let lockTimeout = "200ms"

    /// Carries the answer out of a transaction that must not commit.
    private struct RolledBack: Error {
        let answer: ReplayAnswer
    }

    /// One batch, all of it or nothing.
    func callAsFunction(_ events: [IncomingEvent]) async throws -> ReplayAnswer {
        do {
            try await self.database.client.withTransaction { sql -> Void in
                throw RolledBack(answer: try await self.handle(events, StatementPipeline(sql)))
            }
        } catch let end as RolledBack {
            return end.answer
        }
        preconditionFailure("a dry run ends with a rollback")
    }

    /// Gives the service's tables recorders; part of the first dry run, and of the first after a table was added.
    func prepare() async throws {
        let tables = try await self.database.client.query("SELECT t FROM unrecorded_tables() t").map {
            try $0.decode(String.self)
        }
        for table in tables {
            // Each in a transaction of its own, so that no lock waits for another.
            try await self.database.client.withConnection { connection in
                _ = try await connection.execute("CALL attach_recorder(\(table))")
            }
        }
        if !tables.isEmpty { self.logger.notice("tables have recorders", metadata: ["count": "\(tables.count)"]) }
    }

    private func handle(_ events: [IncomingEvent], _ pipeline: StatementPipeline) async throws -> ReplayAnswer {
        let tools = self.database.tools
        let own = EventTransaction(pipeline, cause: Cause(), tools: tools)
        let freshness = Freshness(begin: tools.clock.now)
        try await own.stage("SELECT set_config('lock_timeout', \(Self.lockTimeout), true)")
        let subjects = Array(Set(events.map(\.attributes.subject)))
        let parked = try await own.query("SELECT subject FROM parked_keys WHERE subject = ANY(\(subjects))")
        let parkedSubjects = Set(try parked.map { try $0.decode(String.self) })
        let ids = events.map(\.attributes.id)
        try await own.stage(
            "DELETE FROM inbox i USING unnest(\(ids)) AS u(id) WHERE i.day = uuid_v7_day(u.id) AND i.id = u.id"
        )
        let first = try await Consequence.takenOut(of: events, in: own)
        var answer = ReplayAnswer()
        for event in events {
            let result = try await self.result(of: event, parkedSubjects, pipeline)
            answer.results.append(result)
        }
        let recorded = try await RecordedRow.all(in: own)
        let changes = Self.changes(first, recorded, answer.results, freshness)
        answer.differing = changes.count { $0.isOvertaken != true }
        answer.changes = Array(changes.prefix(ReplayAnswer.maximumChanges))
        return answer
    }

    private func result(
        of event: IncomingEvent,
        _ parkedSubjects: Set<String>,
        _ pipeline: StatementPipeline
    ) async throws -> ReplayedEvent {
        guard let entry = self.handlers.entries[event.attributes.type] else { return ReplayedEvent(event, .unheard) }
        guard !parkedSubjects.contains(event.attributes.subject) else {
            return ReplayedEvent(event, .refused, "subject_parked")
        }
        if let problem = self.handlers.problem(with: event) {
            return ReplayedEvent(event, .refused, problem.rawValue)
        }
        let transaction = EventTransaction(pipeline, cause: event.cause, tools: self.database.tools)
        try await transaction.stage("SELECT set_config('transfa.recorder', \(event.attributes.id.lowercased), true)")
        var attributes = event.attributes
        attributes.sequence = RaisedSequence.of(attributes.sequence)
        try await entry.handle(attributes, event.body, transaction)
        // What fails must fail here, and not in the name of the next event.
        try await pipeline.flush()
        return ReplayedEvent(event, .applied)
    }

    private static func changes(
        _ first: [Consequence],
        _ recorded: [RecordedRow],
        _ results: [ReplayedEvent],
        _ freshness: Freshness
    ) -> [ReplayChange] {
        let tried = Set(results.filter { $0.outcome == .applied }.map(\.id))
        let busy = Set(recorded.map(\.event))
        let rows = RowDifferences(freshness: freshness).changes(
            recorded.filter { !Consequence.tables.contains($0.table) }
        )
        let consequences = ConsequenceDifferences(freshness: freshness).changes(
            first.filter { tried.contains($0.event) },
            recorded.compactMap(Consequence.init),
            idle: tried.subtracting(busy)
        )
        return rows + consequences
    }
}
