public import Contracts
import Foundation
public import Postgres

/// What a service derives from events alone, and can make again from the archive of all events.
///
/// Each row of its tables belongs to a generation, in the column `generation`. People see the live one; a rebuild fills
/// another beside it, and whatever is heard meanwhile goes into both. What a person has said lives in other tables, and
/// no rebuild touches it. A migration of the service puts the row of the projection into `projections`.
///
/// How an event is applied depends on the event and the projection's own rows, and its result not on the order of
/// events of different subjects. It writes to `Projection.generations` and nowhere else.
public struct Projection: Sendable {
    /// Names it: its row in `projections`.
    public let name: String
    /// Its tables; every row of them can be made again.
    public let tables: [String]

    package struct Entry: Sendable {
        package let majorVersion: Int
        /// Writes the projection alone.
        package let apply: EventHandlers.Handle
        /// What the service does when it hears the event.
        package let hear: EventHandlers.Handle
    }

    package private(set) var entries: [EventType: Entry] = [:]

    /// The generations that the statements of an event, or of what `join(_:)` lets in, write to: rows of one column.
    public static let generations: SQL = "aimed_generations()"

    /// Declares a projection that no event changes yet.
    public init(_ name: String, tables: [String]) {
        self.name = name
        self.tables = tables
    }

    /// Declares what one kind of event changes.
    ///
    /// - Parameters:
    ///   - type: The kind.
    ///   - alongside: What else the service does when it hears such an event; a rebuild does not do it.
    ///   - apply: Changes the projection.
    public mutating func on<Payload: EventData>(
        _ type: Payload.Type,
        alongside: (@Sendable (Event<Payload>, EventTransaction) async throws -> Void)? = nil,
        apply: @escaping @Sendable (Event<Payload>, EventTransaction) async throws -> Void
    ) {
        precondition(self.entries[Payload.type] == nil, "\(self.name) applies \(Payload.type.rawValue) twice")
        let name = self.name
        self.entries[Payload.type] = Entry(
            majorVersion: Payload.majorVersion,
            apply: { attributes, body, transaction in
                try await apply(try EventHandlers.event(attributes, body), transaction)
            },
            hear: { attributes, body, transaction in
                let event: Event<Payload> = try EventHandlers.event(attributes, body)
                try await transaction.stage("SELECT aim_projection(\(name), \(attributes.id))")
                try await apply(event, transaction)
                try await alongside?(event, transaction)
            }
        )
    }

    /// The kinds of events it depends on.
    public var types: Set<EventType> { Set(self.entries.keys) }

    /// Lets the statements that follow in the transaction change all generations there are.
    ///
    /// For what is no event: something that a job has found out, kept in a table of its own, and shown in the projection.
    public func join(_ transaction: EventTransaction) async throws {
        try await transaction.stage("SELECT aim_projection(\(self.name))")
    }
}

extension EventHandlers {
    /// Hears all events that a projection depends on.
    public mutating func on(_ projection: Projection) {
        for (type, entry) in projection.entries {
            self.register(type, Entry(majorVersion: entry.majorVersion, handle: entry.hear))
        }
    }
}
