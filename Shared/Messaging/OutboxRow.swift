import Contracts
import Foundation
import Postgres
import Primitives

/// A row of the outbox, as it goes to the broker.
struct OutboxRow: Sendable {
    let day: String
    let attributes: EventAttributes
    let data: String
    let time: Date

    /// Reads day, id, type, version, subject, sequence, correlation, causation, trace, time and data, in this order.
    init(_ row: PostgresRow, of service: ServiceName) throws {
        let (day, id, type, version, subject, sequence, correlation, causation, trace, time, data) = try row.decode(
            String.self,
            UUID.self,
            String.self,
            Int16.self,
            String.self,
            Int64.self,
            UUID?.self,
            UUID?.self,
            String?.self,
            Date.self,
            String.self
        )
        self.day = day
        self.data = data
        self.time = time
        self.attributes = EventAttributes(
            id: id,
            source: service.rawValue,
            type: EventType(rawValue: type),
            majorVersion: Int(version),
            subject: subject,
            time: Timestamp.text(time),
            sequence: sequence,
            traceparent: trace,
            correlationid: correlation,
            causationid: causation
        )
    }

    /// The bytes that consumers get.
    func envelope() throws -> Data { try EventEnvelope.body(self.attributes, dataJSON: self.data) }
}
