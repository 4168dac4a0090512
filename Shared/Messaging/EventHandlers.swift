public import Contracts
package import Foundation

/// What a service does when something happens elsewhere: one handler per kind of event.
///
/// A handler only writes to the service's own database, inside the transaction it is given. Anything slow or external
/// becomes a job. It must give the same result when events of different subjects come in another order.
public struct EventHandlers: Sendable {
    package typealias Handle = @Sendable (EventAttributes, Data, EventTransaction) async throws -> Void

    package struct Entry: Sendable {
        package let majorVersion: Int
        package let handle: Handle
    }

    package private(set) var entries: [EventType: Entry] = [:]

    /// Starts without handlers.
    public init() {}

    /// Registers the handler of one kind of event.
    public mutating func on<Payload: EventData>(
        _ type: Payload.Type,
        _ handle: @escaping @Sendable (Event<Payload>, EventTransaction) async throws -> Void
    ) {
        precondition(self.entries[Payload.type] == nil, "two handlers for \(Payload.type.rawValue)")
        self.entries[Payload.type] = Entry(majorVersion: Payload.majorVersion) { attributes, body, transaction in
            let data: Payload
            do {
                data = try EventEnvelope.data(Payload.self, in: body)
            } catch {
                throw EventProblem.undecodableData
            }
            try await handle(Event(attributes: attributes, data: data), transaction)
        }
    }

    /// Hears kinds without doing anything: for made-up services, since one that does not hear all its kinds does not start.
    package mutating func ignore(_ types: some Sequence<EventType>) {
        for type in types where self.entries[type] == nil {
            self.entries[type] = Entry(majorVersion: 1) { _, _, _ in }
        }
    }

    /// The kinds that have a handler.
    public var types: Set<EventType> { Set(self.entries.keys) }
}

/// Why an event was parked before or instead of being handled.
public enum EventProblem: String, Error, Sendable {
    /// The data does not have the form its kind promises.
    case undecodableData = "undecodable_data"
    /// A major version this service does not know.
    case unknownVersion = "unknown_version"
    /// Older than the inbox remembers: it may have been handled already.
    case beyondDedupeWindow = "beyond_dedupe_window"
    /// Handling it ended the process again and again.
    case crashed
}
