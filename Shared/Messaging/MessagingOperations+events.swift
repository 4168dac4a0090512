import Contracts
public import Foundation
import Postgres
import Primitives

/// Some events of an outbox.
public struct PublishedEvents: Sendable {
    /// Their envelopes as consumers get them, one per line.
    public let lines: Data
    /// The id of the last one, when there are more; to be asked for next.
    public let next: UUID?
}

extension MessagingOperations {
    /// One answer holds no more bytes than this and one event.
    private static let maximumBytes = 4 * 1024 * 1024

    /// What the outbox has behind an id, sent or not, in the order of ids.
    ///
    /// For whoever has lost a part of the event log. An event that is being written may have a lower id than one that
    /// can be seen already; it comes with the log.
    ///
    /// - Parameters:
    ///   - id: A UUIDv7; days before its own are not looked at.
    ///   - limit: The most events.
    /// - Returns: The events, and where the next ones begin.
    /// - Throws: `PostgresError`.
    public func events(after id: UUID, limit: Int) async throws -> PublishedEvents {
        let rows = try await self.database.client.query(
            """
            SELECT day::text, id, type, version, subject, sequence, correlation_id, causation_id, traceparent, time, data
            FROM outbox WHERE id > \(id) AND day >= uuid_v7_day(\(id)) ORDER BY id LIMIT \(Int64(limit))
            """
        )
        var lines = Data()
        for (index, row) in rows.enumerated() {
            let event = try OutboxRow(row, of: self.service)
            lines.append(try event.envelope())
            lines.append(UInt8(ascii: "\n"))
            let isLast = index + 1 == rows.count
            if lines.count > Self.maximumBytes && !isLast || isLast && rows.count == limit {
                return PublishedEvents(lines: lines, next: event.attributes.id)
            }
        }
        return PublishedEvents(lines: lines, next: nil)
    }
}
