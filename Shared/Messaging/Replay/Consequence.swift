import Contracts
import Foundation
import Postgres

/// An event that is published, or a job that is asked for, while an event is handled.
struct Consequence: Sendable {
    let kind: ReplayChange.Kind
    /// The kind of event or job.
    let name: String
    /// Its subject, or its key.
    let key: String
    let contents: [String: JSONValue]
    /// The event that was handled.
    let event: UUID

    private init(_ kind: ReplayChange.Kind, _ name: String, _ key: String, _ contents: String, _ event: UUID) {
        self.kind = kind
        self.name = name
        self.key = key
        let value = JSONValue(text: contents)?.unfolded ?? .string(contents)
        self.contents = value.members ?? ["value": value]
        self.event = event
    }

    /// What was recorded, when it is an event or a job.
    ///
    /// A job that runs again counts as asked for.
    init?(_ row: RecordedRow) {
        guard let after = row.after else { return nil }
        func text(_ column: String) -> String { after[column]?.text ?? "" }
        switch row.table {
        case "outbox" where row.before == nil:
            self.init(.event, text("type"), text("subject"), text("data"), row.event)
        case "jobs" where row.before == nil || after["state"]?.text == "queued":
            self.init(.job, text("kind"), text("key"), text("payload"), row.event)
        default: return nil
        }
    }

    /// Tables that hold nothing else.
    static let tables: Set<String> = ["outbox", "jobs"]

    /// What the first handling of events published and asked for, as far as it is known; the jobs are taken out, so that
    /// they can be asked for again.
    ///
    /// Both are found by the request that started it all, and then by their direct cause.
    static func takenOut(of events: [IncomingEvent], in transaction: EventTransaction) async throws -> [Consequence] {
        let ids = events.map(\.attributes.id)
        let correlations = Array(Set(events.compactMap(\.attributes.correlationid)))
        guard !correlations.isEmpty else { return [] }
        let published = try await transaction.query(
            """
            SELECT causation_id, type, subject, data FROM outbox
            WHERE correlation_id = ANY(\(correlations)) AND causation_id = ANY(\(ids)) ORDER BY position
            """
        ).map { row in
            let (cause, type, subject, data) = try row.decode(UUID.self, String.self, String.self, String.self)
            return Consequence(.event, type, subject, data, cause)
        }
        let asked = try await transaction.query(
            """
            DELETE FROM jobs WHERE correlation_id = ANY(\(correlations)) AND causation_id = ANY(\(ids))
            RETURNING causation_id, kind, key, payload
            """
        ).map { row in
            let (cause, kind, key, payload) = try row.decode(UUID.self, String.self, String.self, String.self)
            return Consequence(.job, kind, key, payload, cause)
        }
        return published + asked
    }
}
