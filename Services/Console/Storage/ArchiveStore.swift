import Foundation
import Messaging
import Postgres
import Primitives

/// Writes the archive.
///
/// Who stores events locks the row of `archive_progress` first, so that positions are seen in their order.
struct ArchiveStore: Sendable {
    /// Where events come from.
    enum Origin: String, Sendable {
        /// The event log.
        case stream
        /// A service's outbox.
        case outbox
        /// A file.
        case `import`
    }

    /// Another reader of the log has taken over: what this one read must not count.
    struct Superseded: Error {}

    // MARK: The reader of the log

    /// Makes the caller the only reader of the log, and says where it goes on.
    func takeOver(
        in transaction: EventTransaction
    ) async throws -> (epoch: Int64, beginning: StreamContinuity.Beginning) {
        let rows = try await transaction.query(
            "UPDATE archive_progress SET epoch = epoch + 1 RETURNING epoch, stream_offset, stream_digest"
        )
        guard let row = rows.first else { throw Superseded() }
        let (epoch, offset, digest) = try row.decode(Int64.self, Int64?.self, [UInt8]?.self)
        guard let offset else { return (epoch, .never) }
        guard let digest else { return (epoch, .anew) }
        return (epoch, .after(StreamPlace(offset: UInt64(offset), digest: digest)))
    }

    /// Notes that the log was read up to a place; the transaction stores what was read.
    ///
    /// - Throws: `Superseded`.
    func advance(
        to place: StreamPlace?,
        newest: Date?,
        epoch: Int64,
        in transaction: EventTransaction
    ) async throws {
        let rows = try await transaction.query(
            """
            UPDATE archive_progress SET stream_offset = \(place.map { Int64($0.offset) } ?? 0),
                stream_digest = \(place?.digest), newest_time = coalesce(\(newest), newest_time),
                read_at = \(transaction.now)
            WHERE epoch = \(epoch) RETURNING epoch
            """
        )
        if rows.isEmpty { throw Superseded() }
    }

    // MARK: Events

    /// Stores events that are not there yet, in their order.
    ///
    /// - Returns: How many were new.
    func append(_ events: [ArchivedEvent], from origin: Origin, in transaction: EventTransaction) async throws -> Int {
        guard !events.isEmpty else { return 0 }
        let rows = try await transaction.query(
            "UPDATE archive_progress SET position = position + \(Int64(events.count)) RETURNING position"
        )
        let base = try (rows.first?.decode(Int64.self) ?? 0) - Int64(events.count)
        let stored = try await transaction.query(
            """
            WITH added AS (
                INSERT INTO archived_events (id, position, time, stored_at, sequence, correlation_id, causation_id, source,
                    type, subject, origin, refs, body)
                SELECT r.id, \(base) + r.ordinal, r.time, \(transaction.now), r.sequence, r.correlation, r.causation,
                    r.source, r.type, r.subject, \(origin.rawValue), string_to_array(r.refs, ' '), r.body
                FROM unnest(\(events.map(\.id)), \(events.map(\.time)), \(events.map(\.sequence)),
                    \(events.map(\.correlationID)), \(events.map(\.causationID)), \(events.map(\.source)),
                    \(events.map(\.type)), \(events.map(\.subject)), \(events.map(\.joinedReferences)),
                    \(events.map(\.body)))
                    WITH ORDINALITY
                    AS r(id, time, sequence, correlation, causation, source, type, subject, refs, body, ordinal)
                ON CONFLICT (id) DO NOTHING
                RETURNING 1
            ) SELECT count(*) FROM added
            """
        )
        return Int(try stored.first?.decode(Int64.self) ?? 0)
    }

    /// Keeps what is no event.
    func keep(_ messages: [MalformedMessage], in transaction: EventTransaction) async throws {
        for message in messages {
            try await transaction.stage(
                """
                INSERT INTO malformed_messages (digest, stream_offset, routing_key, reason, size, body, stored_at)
                VALUES (\(message.digest), \(Int64(message.offset)), \(message.routingKey), \(message.reason.rawValue),
                    \(Int32(clamping: message.body.count)), \(Array(message.body.prefix(MalformedMessage.maximumBytes))),
                    \(transaction.now))
                ON CONFLICT (digest) DO NOTHING
                """
            )
        }
    }
}

extension ArchivedEvent {
    /// References have no spaces; those that do are left out.
    fileprivate var joinedReferences: String? {
        let words = self.references.filter { !$0.isEmpty && !$0.contains(" ") }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }
}
