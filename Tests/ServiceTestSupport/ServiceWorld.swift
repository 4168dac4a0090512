public import Contracts
public import Foundation
public import Messaging
import Postgres
public import Primitives
public import TestSupport

/// A service as its tests see it: what it hears, what it says, and its jobs run one at a time.
public protocol ServiceWorld: Sendable {
    /// The database of this test.
    var service: ServiceDatabase { get }
    /// What the service does with events.
    var handlers: EventHandlers { get }
}

extension ServiceWorld {
    /// The database, for what the roles may not see.
    public var database: TestDatabase { self.service.database }
    /// As request handlers write it.
    public var requests: EventDatabase { self.service.requests }
    /// As consumers and jobs write it.
    public var work: EventDatabase { self.service.work }
    /// The service's clock.
    public var clock: AdjustableClock { self.service.clock }
    /// Makes the service's ids.
    public var ids: UUIDv7Source { self.service.ids }
    /// The user most tests are about.
    public var ada: UserID { UserID(clerkSubject: "user_ada") }

    // MARK: Events

    /// Handles an event as the consumer does, from its bytes; about Ada unless told otherwise.
    public func hear<Payload: EventData>(
        _ data: Payload,
        about subject: UUID? = nil,
        sequence: Int64 = 1,
        id: UUID? = nil,
        at moment: Date? = nil
    ) async throws {
        let json = String(decoding: try JSONEncoder().encode(data), as: UTF8.self)
        try await self.hear(Payload.type, json, about: subject, sequence: sequence, id: id, at: moment)
    }

    /// Handles an event whose data is this text.
    public func hear(
        _ type: EventType,
        _ json: String,
        about subject: UUID? = nil,
        sequence: Int64 = 1,
        id: UUID? = nil,
        at moment: Date? = nil
    ) async throws {
        guard let entry = self.handlers.entries[type] else { throw TestFailure("nobody hears \(type.rawValue)") }
        let attributes = EventAttributes(
            id: id ?? self.ids.next(),
            source: EventCatalogue.definition(of: type)?.source.rawValue ?? "test",
            type: type,
            majorVersion: entry.majorVersion,
            subject: (subject ?? self.ada.uuid).lowercased,
            time: Timestamp.text(moment ?? self.clock.now),
            sequence: sequence
        )
        let body = try EventEnvelope.body(attributes, dataJSON: json)
        try await self.work.transaction(cause: Cause()) { transaction in
            try await entry.handle(attributes, body, transaction)
        }
    }

    /// The kinds of events that the service has said, in order.
    public func said() async throws -> [String] {
        try await self.outbox().map(\.type)
    }

    private func outbox() async throws -> [SaidEvent] {
        try await self.work.client.query("SELECT type, subject, sequence, data FROM outbox ORDER BY position").map {
            let (type, subject, sequence, data) = try $0.decode(String.self, String.self, Int64.self, String.self)
            return SaidEvent(type: type, subject: subject, sequence: sequence, data: data)
        }
    }

    /// What the service has said about a user, in order.
    public func said(about user: UserID) async throws -> [SaidEvent] {
        try await self.outbox().filter { $0.subject == user.description }
    }

    /// The events of a kind, in order.
    public func said<Payload: EventData>(_ type: Payload.Type) async throws -> [Payload] {
        try await self.outbox().filter { $0.type == type.type.rawValue }.map {
            try JSONDecoder().decode(type, from: Data($0.data.utf8))
        }
    }

    /// The last event of a kind.
    public func last<Payload: EventData>(_ type: Payload.Type) async throws -> Payload? {
        try await self.said(type).last
    }

    // MARK: Transactions and jobs

    /// Runs a body in a transaction of a user's request.
    public func asUser<Value: Sendable>(
        _ user: UserID,
        _ body: (EventTransaction) async throws -> Value
    ) async throws -> Value {
        try await self.requests.transaction(as: user, cause: Cause(), body)
    }

    /// The state of a job; nil when there is none.
    public func state(of kind: JobKind, _ key: String) async throws -> String? {
        try await self.work.client.query(
            "SELECT state FROM jobs WHERE kind = \(kind.rawValue) AND key = \(key)"
        ).first?.decode(String.self)
    }

    /// Leases a job, due or not, runs it, and records the outcome as the runner does.
    public func run(
        _ kind: JobKind,
        _ key: String,
        _ work: @escaping @Sendable (Job) async throws -> JobOutcome
    ) async throws -> JobOutcome {
        let job = try await self.lease(kind, key)
        let outcome = await JobDefinition(kind, run: work).run([job])[0]
        let state =
            switch outcome {
            case .done: "done"
            case .again: "queued"
            case .failed: "failed"
            case .cancelled: "cancelled"
            }
        try await self.work.client.withTransaction { sql in
            _ = try await sql.execute(
                "UPDATE jobs SET state = \(state) WHERE id = \(job.id) AND state = 'running' AND lease_owner = \(job.owner)"
            )
        }
        return outcome
    }

    private func lease(_ kind: JobKind, _ key: String) async throws -> Job {
        let owner = self.ids.next()
        let leased = try await self.work.client.withTransaction { sql in
            try await sql.query(
                """
                UPDATE jobs SET state = 'running', attempts = attempts + 1, lease_owner = \(owner),
                    lease_until = transfa_now() + interval '1 minute'
                WHERE kind = \(kind.rawValue) AND key = \(key) AND state = 'queued'
                RETURNING id, attempts, payload
                """
            )
        }
        guard let (id, attempts, payload) = try leased.first?.decode(UUID.self, Int32.self, String.self) else {
            throw TestFailure("no \(kind.rawValue) waits for \(key)")
        }
        return Job(
            id: id,
            key: key,
            subject: nil,
            payload: payload,
            attempt: Int(attempts),
            cause: Cause(causationID: id),
            leaseUntil: self.clock.now,
            owner: owner
        )
    }
}

/// An event as it waits in the outbox.
public struct SaidEvent: Sendable {
    /// Its kind.
    public let type: String
    /// What it is about.
    public let subject: String
    /// Its number among the events about that.
    public let sequence: Int64
    /// Its data, in JSON.
    public let data: String
}
