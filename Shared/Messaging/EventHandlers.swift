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
    private(set) var prepare: (@Sendable (EventBatch, EventTransaction) async throws -> Void)?

    /// Starts without handlers.
    public init() {}

    /// Registers the handler of one kind of event.
    public mutating func on<Payload: EventData>(
        _ type: Payload.Type,
        _ handle: @escaping @Sendable (Event<Payload>, EventTransaction) async throws -> Void
    ) {
        self.register(
            Payload.type,
            Entry(majorVersion: Payload.majorVersion) { attributes, body, transaction in
                try await handle(try Self.event(attributes, body), transaction)
            }
        )
    }

    /// Registers what is done before the first event of a batch is handled, in the same transaction.
    ///
    /// Handlers that each lock rows in order lock them in none, one after the other: here all are locked first.
    public mutating func before(_ prepare: @escaping @Sendable (EventBatch, EventTransaction) async throws -> Void) {
        precondition(self.prepare == nil, "batches are prepared twice")
        self.prepare = prepare
    }

    mutating func register(_ type: EventType, _ entry: Entry) {
        precondition(self.entries[type] == nil, "two handlers for \(type.rawValue)")
        self.entries[type] = entry
    }

    /// The event with its data read.
    ///
    /// - Throws: `EventProblem.undecodableData`.
    static func event<Payload: EventData>(_ attributes: EventAttributes, _ body: Data) throws -> Event<Payload> {
        let data: Payload
        do {
            data = try EventEnvelope.data(Payload.self, in: body)
        } catch {
            throw EventProblem.undecodableData
        }
        return Event(attributes: attributes, data: data)
    }

    /// Hears kinds without doing anything: for made-up services, since one that does not hear all its kinds does not start.
    package mutating func ignore(_ types: some Sequence<EventType>) {
        for type in types where self.entries[type] == nil {
            self.entries[type] = Entry(majorVersion: 1) { _, _, _ in }
        }
    }

    /// Puts another rule in the place of a handler: for tests of what a dry run says about it.
    package mutating func replace<Payload: EventData>(
        _ type: Payload.Type,
        _ handle: @escaping @Sendable (Event<Payload>, EventTransaction) async throws -> Void
    ) {
        self.entries[Payload.type] = nil
        self.on(type, handle)
    }

    /// Why an event is not given to the handler of its kind; nil when it is, and when there is none.
    func problem(with event: IncomingEvent) -> EventProblem? {
        self.entries[event.attributes.type].flatMap { event.problem(expecting: $0.majorVersion) }
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
    /// Its source is not the service that publishes its kind.
    case wrongSource = "wrong_source"
    /// Older than the inbox remembers: it may have been handled already.
    case beyondDedupeWindow = "beyond_dedupe_window"
    /// Handling it ended the process again and again.
    case crashed
}
