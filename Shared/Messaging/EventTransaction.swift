public import Contracts
public import Foundation
public import Postgres
public import Primitives

/// Statements of one transaction that wait to be sent together.
///
/// `@unchecked Sendable`: belongs to one transaction, which one task uses at a time.
final class StatementPipeline: @unchecked Sendable {
    let sql: PostgresTransaction
    private var staged: [SQL] = []

    /// How many statements may wait.
    private static let capacity = 128

    init(_ sql: PostgresTransaction) { self.sql = sql }

    func query(_ statement: SQL) async throws -> [PostgresRow] {
        guard !self.staged.isEmpty else { return try await self.sql.query(statement) }
        let batch = self.staged + [statement]
        self.staged.removeAll(keepingCapacity: true)
        return try await self.sql.pipeline(batch).last ?? []
    }

    func stage(_ statement: SQL) async throws {
        self.staged.append(statement)
        if self.staged.count >= Self.capacity { try await self.flush() }
    }

    func flush() async throws {
        guard !self.staged.isEmpty else { return }
        let batch = self.staged
        self.staged.removeAll(keepingCapacity: true)
        _ = try await self.sql.pipeline(batch)
    }
}

/// A database transaction that can also say what happened and ask for work: rows of the same commit.
///
/// Nothing reaches the broker or the provider before the commit, and everything does after it.
public struct EventTransaction: Sendable {
    /// What caused it.
    public let cause: Cause

    private let pipeline: StatementPipeline
    private let tools: MessagingTools

    init(_ pipeline: StatementPipeline, cause: Cause, tools: MessagingTools) {
        self.pipeline = pipeline
        self.cause = cause
        self.tools = tools
    }

    /// The service's clock.
    public var now: Date { self.tools.clock.now }

    /// A value as its text is stored: JSON with sorted keys.
    func json(_ value: some Encodable) throws -> String { try self.tools.encode(value) }

    /// A new UUIDv7.
    public func makeID() -> UUID { self.tools.ids.next() }

    /// The same transaction, for what something else has caused: a batch does the work of many requests.
    public func caused(by cause: Cause) -> EventTransaction {
        EventTransaction(self.pipeline, cause: cause, tools: self.tools)
    }

    // MARK: Statements

    /// Runs a statement after the staged ones and returns its rows.
    @discardableResult
    public func query(_ statement: SQL) async throws -> [PostgresRow] { try await self.pipeline.query(statement) }

    /// Puts a statement into the pipeline; it runs before the next query or the commit.
    ///
    /// Its rows are dropped, its error fails the transaction.
    public func stage(_ statement: SQL) async throws { try await self.pipeline.stage(statement) }

    // MARK: Events

    /// Says that something happened.
    ///
    /// The event is published after the commit, in order with others of its subject, which stays locked until then.
    public func publish<Data: EventData>(_ data: Data, about subject: String) async throws {
        let json = try self.tools.encode(data)
        let id = self.tools.ids.next()
        try await self.stage(
            """
            WITH counted AS (
                INSERT INTO event_sequences (subject, sequence) VALUES (\(subject), 1)
                ON CONFLICT (subject) DO UPDATE SET sequence = event_sequences.sequence + 1
                RETURNING sequence
            )
            INSERT INTO outbox
                (day, id, type, version, subject, sequence, correlation_id, causation_id, traceparent, time, data)
            SELECT uuid_v7_day(\(id)), \(id), \(Data.type.rawValue), \(Int16(Data.majorVersion)), \(subject), sequence,
                \(self.cause.correlationID), \(self.cause.causationID), \(self.cause.traceparent),
                \(self.tools.clock.now), \(json)
            FROM counted
            """
        )
    }

    /// Says that something happened to a user.
    public func publish<Data: EventData>(_ data: Data, about user: UserID) async throws {
        try await self.publish(data, about: user.uuid.lowercased)
    }

    // MARK: Jobs

    /// Asks for work.
    ///
    /// A job of the same kind and key that exists already stays as it is.
    ///
    /// - Parameters:
    ///   - kind: Names the handler.
    ///   - key: Unique within the kind.
    ///   - subject: What the work is about, for operators.
    ///   - payload: What the handler needs; personal data in it must be sealed.
    ///   - delay: How long to wait.
    /// - Throws: `PostgresError` when a full pipeline is sent.
    public func enqueue(
        _ kind: JobKind,
        key: String,
        subject: String? = nil,
        payload: some Encodable & Sendable = NoPayload(),
        after delay: Duration = .zero
    ) async throws {
        let now = self.tools.clock.now
        let json = try self.tools.encode(payload)
        try await self.stage(
            """
            INSERT INTO jobs
                (id, kind, key, subject, payload, due_at, correlation_id, causation_id, traceparent, created_at)
            VALUES (\(self.tools.ids.next()), \(kind.rawValue), \(key), \(subject), \(json),
                transfa_now() + \(delay / .seconds(1)) * interval '1 second',
                \(self.cause.correlationID), \(self.cause.causationID), \(self.cause.traceparent), \(now))
            ON CONFLICT (kind, key) DO NOTHING
            """
        )
    }

    /// Runs a job of this kind and key again, now, whether it is done, waiting or new; a running one is left alone, and in
    /// a replay without effects any that exists.
    public func requeue(_ kind: JobKind, key: String, subject: String? = nil) async throws {
        let now = self.tools.clock.now
        try await self.stage(
            """
            INSERT INTO jobs (id, kind, key, subject, due_at, correlation_id, causation_id, traceparent, created_at)
            VALUES (\(self.tools.ids.next()), \(kind.rawValue), \(key), \(subject), transfa_now(),
                \(self.cause.correlationID), \(self.cause.causationID), \(self.cause.traceparent), \(now))
            ON CONFLICT (kind, key) DO UPDATE
            SET state = 'queued', due_at = excluded.due_at, finished_at = NULL
            WHERE jobs.state <> 'running' AND coalesce(current_setting('transfa.effects', true), '') <> 'off'
            """
        )
    }
}

/// The payload of a job whose key says everything.
public struct NoPayload: Codable, Sendable {
    /// Nothing.
    public init() {}
}
