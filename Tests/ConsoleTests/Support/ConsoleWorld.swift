import Contracts
import EventLoops
import Foundation
import Logging
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport

@testable import ConsoleService

let quiet = Logger(label: "console-tests") { _ in SwiftLogNoOpLogHandler() }

/// Console on a database of its own.
struct ConsoleWorld: ServiceWorld {
    let service: ServiceDatabase
    var retention = 30

    var handlers: EventHandlers { EventHandlers() }
    var store: ArchiveStore { ArchiveStore() }
    var reads: ArchiveReads { ArchiveReads(database: self.work) }
    var log: ArchiveLog { ArchiveLog(quiet) }
    var days: ArchiveDays {
        ArchiveDays(
            store: self.store,
            database: self.work,
            clock: self.clock,
            log: self.log,
            retention: self.retention
        )
    }
    var entries: StoreEntries {
        StoreEntries(database: self.work, store: self.store, days: self.days, log: self.log)
    }

    // MARK: Writing

    /// Becomes the reader of the log.
    func takeOver() async throws -> (epoch: Int64, beginning: StreamContinuity.Beginning) {
        try await self.work.transaction(cause: Cause()) { try await self.store.takeOver(in: $0) }
    }

    /// Stores bodies as if they stood in the log from an offset on.
    func take(_ bodies: [Data], from offset: UInt64 = 0, epoch: Int64) async throws {
        try await self.entries(Self.entries(bodies, from: offset), epoch: epoch)
    }

    /// Stores bodies as the only reader.
    func take(_ bodies: [Data], from offset: UInt64 = 0) async throws {
        try await self.take(bodies, from: offset, epoch: try await self.takeOver().epoch)
    }

    static func entries(_ bodies: [Data], from offset: UInt64) -> [EventLogEntry] {
        bodies.enumerated().map { index, body in
            let event = try? EventEnvelope.attributes(in: body)
            let key = event.map { Topology.routingKey(type: $0.type, subject: $0.subject) } ?? "00.test"
            return EventLogEntry(
                offset: offset + UInt64(index),
                isFirst: index == 0,
                routingKey: key,
                body: Array(body)
            )
        }
    }

    // MARK: Looking

    func number(_ sql: String) async throws -> Int {
        guard let text = try await self.database.psql(sql).first, let number = Int(text) else {
            throw TestFailure("no number came of: \(sql)")
        }
        return number
    }

    /// The bodies in the order in which they were stored.
    func bodies() async throws -> [String] {
        try await self.reads.scan(EventFilter(), after: 0, upTo: .max, limit: 100_000).map(\.body)
    }

    /// Names of the partitions that have events.
    func partitions() async throws -> [String] {
        try await self.database.psql(
            "SELECT DISTINCT tableoid::regclass::text FROM archived_events ORDER BY 1"
        )
    }
}

/// Runs `body` with console on a fresh database.
func withConsole(_ body: (ConsoleWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .console,
        schema: try ConsoleSchema.sets(),
        handlers: EventHandlers()
    ) { service in
        try await body(ConsoleWorld(service: service))
    }
}

/// Makes ids.
let ids = UUIDv7Source()

/// An id made some time from now.
func id(after offset: Duration) -> UUID { UUIDv7Source(clock: AdjustableClock(offset: offset)).next() }

/// The bytes of an event, of its publisher unless told otherwise.
func envelope(
    _ id: UUID = ids.next(),
    type: EventType = "transaction.created",
    source: String? = nil,
    subject: String = UUID().lowercased,
    sequence: Int64 = 1,
    correlation: UUID? = nil,
    causation: UUID? = nil,
    data: String = "{}"
) throws -> Data {
    let attributes = EventAttributes(
        id: id,
        source: source ?? EventCatalogue.definition(of: type)?.source.rawValue ?? "transaction",
        type: type,
        majorVersion: 1,
        subject: subject,
        time: Timestamp.text(Date(millisecondsSince1970: id.version7Milliseconds ?? 0)),
        sequence: sequence,
        correlationid: correlation,
        causationid: causation
    )
    return try EventEnvelope.body(attributes, dataJSON: data)
}
