import Contracts
import EventLoops
package import Foundation
import Logging
import Metrics
import Postgres
import Primitives

/// Handles batches of events, each batch in order in one transaction, exactly once in effect.
///
/// In the transaction: lock the parked keys of the batch's subjects, leave out what the inbox knows, run the handlers,
/// write the inbox rows. A repeated event that another process handles at the same time meets it in the inbox's primary
/// key: one of the two rolls back and then finds the other's row.
struct BatchProcessor: Sendable {
    let handlers: EventHandlers
    let database: EventDatabase
    let logger: Logger
    private let days = RememberedDays()

    /// How a batch ended for one event.
    enum Outcome: String {
        case handled
        case parked
    }

    /// What the inbox is told of an event.
    struct Record {
        let event: IncomingEvent
        let outcome: Outcome
        let microseconds: Int32
        /// Where its handler stood in the trace, if it ran.
        var place: SpanPlace?
    }

    /// A statement that met its time limit may have waited for somebody else's lock: so often it is repeated.
    private static let slowRunsAllowed = 2

    /// Handles events in order.
    ///
    /// Returns when all of them are handled or parked; throws only on cancellation.
    ///
    /// - Returns: How many the inbox did not have.
    @discardableResult
    func process(_ events: [IncomingEvent]) async throws -> Int {
        var backoff = Backoff()
        var slowRuns = 0
        while !events.isEmpty {
            let start = ContinuousClock.now
            do {
                return try await self.attempt(events)
            } catch {
                try Task.checkCancellation()
                // A day that was dropped since it was looked up has no room for an inbox row; look again.
                if self.days.forget(), PostgresError.first(in: error)?.sqlState == "23514" { continue }
                let isSlow = PostgresError.first(in: error)?.isStatementCancelled == true
                if isSlow { slowRuns += 1 }
                if Self.isPassing(error) || isSlow && slowRuns <= Self.slowRunsAllowed {
                    self.logger.notice("batch repeated", metadata: ["error": "\(Self.code(of: error))"])
                    try await Task.sleep(for: backoff.next())
                } else if let event = events.first, events.count == 1 {
                    let took = ContinuousClock.now - start
                    return try await self.park(event, reason: Self.code(of: error), after: took)
                } else {
                    return try await self.processEach(events)
                }
            }
        }
        return 0
    }

    private func processEach(_ events: [IncomingEvent]) async throws -> Int {
        var new = 0
        for event in events { new += try await self.process([event]) }
        return new
    }

    /// Puts an event aside without running its handler.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - reason: A code.
    ///   - duration: How long its handler ran before it failed; nil when it was not run.
    /// - Returns: How many events were new: one, or none when the inbox has it.
    /// - Throws: `CancellationError`.
    func park(_ event: IncomingEvent, reason: String, after duration: Duration? = nil) async throws -> Int {
        self.logger.error(
            "event parked",
            metadata: [
                "event": "\(event.attributes.id)", "type": "\(event.attributes.type.rawValue)", "reason": "\(reason)",
            ]
        )
        var backoff = Backoff()
        while true {
            do {
                let new = try await self.database.transaction(cause: event.cause) { transaction -> Int in
                    guard try await transaction.query(Self.known([event])).isEmpty else { return 0 }
                    let remembered = try RememberedDays.times(try await transaction.query(RememberedDays.statement))
                    try await Self.insertParked(event, reason: reason, transaction)
                    try await Self.noteTry(of: event, duration, reason: reason, transaction)
                    let record = Record(event: event, outcome: .parked, microseconds: 0)
                    try await Self.insertRecords([record], remembered, transaction)
                    return 1
                }
                Self.count([Record(event: event, outcome: .parked, microseconds: 0)])
                return new
            } catch {
                try Task.checkCancellation()
                self.logger.warning("parking repeated", metadata: ["error": "\(Self.code(of: error))"])
                try await Task.sleep(for: backoff.next())
            }
        }
    }

    // MARK: One attempt

    private func attempt(_ events: [IncomingEvent]) async throws -> Int {
        let (remembered, records) = try await self.database.client.withTransaction { sql in
            let pipeline = StatementPipeline(sql)
            let own = EventTransaction(pipeline, cause: Cause(), tools: self.database.tools)
            // One round trip, and the locks come first: what the inbox shows must not be older than they are.
            let days = self.days.covering(events)
            let questions = [Self.lockParkedKeys(events), Self.known(events)]
            let found = try await sql.pipeline(days == nil ? questions + [RememberedDays.statement] : questions)
            let remembered = try days ?? RememberedDays.times(found[2])
            var parkedSubjects = Set(try found[0].map { try $0.decode(String.self) })
            var records: [Record] = []
            let unknown = try Self.unknown(events, found[1])
            let heard = unknown.filter { !parkedSubjects.contains($0.attributes.subject) }
            if heard.count > 1 { try await self.handlers.prepare?(EventBatch(heard), own) }
            for event in unknown {
                let transaction = EventTransaction(pipeline, cause: event.cause, tools: self.database.tools)
                let subject = event.attributes.subject
                if parkedSubjects.contains(subject) {
                    try await Self.insertParked(event, reason: "behind_parked_event", transaction)
                    records.append(Record(event: event, outcome: .parked, microseconds: 0))
                } else if let problem = self.problem(with: event, remembered) {
                    try await Self.insertParked(event, reason: problem.rawValue, transaction)
                    try await Self.noteTry(of: event, nil, reason: problem.rawValue, transaction)
                    parkedSubjects.insert(subject)
                    records.append(Record(event: event, outcome: .parked, microseconds: 0))
                } else {
                    records.append(try await self.handle(event, transaction))
                }
            }
            try await Self.insertRecords(records, remembered, own)
            try await pipeline.flush()
            CrashPoint.reach("before_commit")
            return (remembered, records)
        }
        self.days.keep(remembered)
        self.trace(records)
        Self.count(records)
        CrashPoint.reach("after_commit_before_ack")
        self.database.wake()
        return records.count
    }

    /// Runs the handler of an event, and measures it.
    func handle(_ event: IncomingEvent, _ transaction: EventTransaction) async throws -> Record {
        // Bound to types we do not listen to only by an older version of ourselves: nothing to do.
        guard let entry = self.handlers.entries[event.attributes.type] else {
            return Record(event: event, outcome: .handled, microseconds: 0)
        }
        let start = ContinuousClock.now
        CrashPoint.reach("handling", with: event.attributes.id.lowercased)
        let place = SpanPlace(below: event.cause)
        let own = transaction.caused(by: event.cause.within(place?.context))
        try await entry.handle(event.attributes, event.body, own)
        let took = Int32(clamping: Int64((ContinuousClock.now - start) / .microseconds(1)))
        return Record(event: event, outcome: .handled, microseconds: took, place: place)
    }

    /// Traces the handlers that have run, once what they did is committed.
    func trace(_ records: [Record]) {
        guard self.database.tools.spans != nil else { return }
        for record in records where record.outcome == .handled {
            let attributes = record.event.attributes
            self.database.tools.trace(
                "process \(attributes.type.rawValue)",
                .consumer,
                at: record.place,
                took: .microseconds(Int64(record.microseconds)),
                attributes: [
                    "messaging.system": "rabbitmq", "messaging.operation.type": "process",
                    "messaging.message.id": .text(attributes.id.lowercased),
                    "cloudevents.event_type": .text(attributes.type.rawValue),
                    "cloudevents.event_source": .text(attributes.source),
                    "transfa.replayed": .text(attributes.replayid == nil ? "false" : "true"),
                ]
            )
        }
    }

    /// Counts what has become of events, once it is committed.
    private static func count(_ records: [Record]) {
        for record in records {
            let kind = ("event_type", record.event.attributes.type.rawValue)
            Metrics.Counter(
                label: "messaging_client_consumed_messages",
                dimensions: [kind, ("outcome", record.outcome.rawValue)]
            ).increment()
            guard record.outcome == .handled else { continue }
            Metrics.Timer(label: "messaging_process_duration_seconds", dimensions: [kind])
                .recordMicroseconds(record.microseconds)
        }
    }

    /// Why an event must not be handled; nil when it may.
    func problem(with event: IncomingEvent, _ remembered: Range<Int64>) -> EventProblem? {
        event.isMade(within: remembered) ? self.handlers.problem(with: event) : .beyondDedupeWindow
    }

    // MARK: What is there

    /// Locks the parked keys among the events' subjects.
    static func lockParkedKeys(_ events: [IncomingEvent]) -> SQL {
        let subjects = Array(Set(events.map(\.attributes.subject)))
        return "SELECT subject FROM parked_keys WHERE subject = ANY(\(subjects)) ORDER BY subject FOR UPDATE"
    }

    /// Which events the inbox has.
    static func known(_ events: [IncomingEvent]) -> SQL {
        "SELECT id FROM known_events(\(events.map(\.attributes.id))) AS k(id)"
    }

    /// The events that the inbox does not know, each once, in order.
    private static func unknown(_ events: [IncomingEvent], _ known: [PostgresRow]) throws -> [IncomingEvent] {
        var seen = Set(try known.map { try $0.decode(UUID.self) })
        return events.filter { seen.insert($0.attributes.id).inserted }
    }

    // MARK: Rows

    private static func insertParked(
        _ event: IncomingEvent,
        reason: String,
        _ transaction: EventTransaction
    ) async throws {
        let (attributes, now) = (event.attributes, transaction.now)
        try await transaction.stage(
            """
            INSERT INTO parked_keys (subject, reason, parked_at) VALUES (\(attributes.subject), \(reason), \(now))
            ON CONFLICT (subject) DO NOTHING
            """
        )
        try await transaction.stage(
            """
            INSERT INTO parked_events (subject, id, type, body, reason, parked_at)
            VALUES (\(attributes.subject), \(attributes.id), \(attributes.type.rawValue),
                \(String(decoding: event.body, as: UTF8.self)), \(reason), \(now))
            ON CONFLICT (id) DO NOTHING
            """
        )
    }

    private static func noteTry(
        of event: IncomingEvent,
        _ duration: Duration?,
        reason: String,
        _ transaction: EventTransaction
    ) async throws {
        let took = duration.map { Int64($0 / .microseconds(1)) }
        // Delivered again it is parked already, and was not tried again.
        try await transaction.stage(
            """
            INSERT INTO parked_tries (event_id, number, tried_at, microseconds, error)
            VALUES (\(event.attributes.id), 1, \(transaction.now), \(took), \(reason)) ON CONFLICT DO NOTHING
            """
        )
    }

    /// Parked events that no partition has room for are known by their row among the parked alone.
    static func insertRecords(
        _ all: [Record],
        _ remembered: Range<Int64>,
        _ transaction: EventTransaction
    ) async throws {
        let records = all.filter { $0.event.isMade(within: remembered) }
        guard !records.isEmpty else { return }
        let attributes = records.map(\.event.attributes)
        try await transaction.stage(
            """
            INSERT INTO inbox
                (day, id, source, type, subject, sequence, correlation_id, outcome, microseconds, handled_at)
            SELECT uuid_v7_day(r.id), r.id, r.source, r.type, r.subject, r.sequence, r.correlation, r.outcome,
                r.microseconds, \(transaction.now)
            FROM unnest(\(attributes.map(\.id)), \(attributes.map(\.source)), \(attributes.map(\.type.rawValue)),
                \(attributes.map(\.subject)), \(attributes.map(\.sequence)), \(attributes.map(\.correlationid)),
                \(records.map(\.outcome.rawValue)), \(records.map { Int64($0.microseconds) }))
                AS r(id, source, type, subject, sequence, correlation, outcome, microseconds)
            """
        )
    }

    // MARK: Errors

    /// Whether the same batch may succeed when repeated: nothing was wrong with the events themselves.
    ///
    /// A unique violation of the inbox means that another process handled one of them a moment ago.
    static func isPassing(_ error: any Error) -> Bool {
        guard let error = PostgresError.first(in: error) else { return error is CancellationError }
        if error.isRetryable || self.saysNothingAboutTheEvent.contains(error.code) { return true }
        guard let constraint = error.constraint else {
            // 53: the server is out of disk, memory or connections. 57P: it stops, or an operator ended the connection.
            return ["53", "57P"].contains { error.sqlState?.hasPrefix($0) == true }
        }
        return constraint.wholeMatch(of: #/inbox_([0-9]{8}_)?pkey/#) != nil
    }

    private static let saysNothingAboutTheEvent: Set<PostgresError.Code> = [
        .leaseTimeout, .overloaded, .closed, .cancelled,
    ]

    /// A code for people; never the text of the data.
    static func code(of error: any Error) -> String {
        if let problem = error as? EventProblem { return problem.rawValue }
        if let error = PostgresError.first(in: error) { return "database_\(error.sqlState ?? "error")" }
        return String(describing: Swift.type(of: error))
    }
}

extension MessagingOperations {
    /// Handles events as the consumer of a queue does, without one; for tests of services.
    package func consume(_ bodies: [Data]) async throws {
        let processor = BatchProcessor(
            handlers: self.parking.handlers,
            database: self.database,
            logger: self.parking.logger
        )
        try await processor.process(bodies.compactMap { IncomingEvent(body: $0) })
    }
}
