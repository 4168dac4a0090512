public import Contracts

/// Events that are about to be handled in one transaction.
public struct EventBatch: Sendable {
    private let events: [IncomingEvent]

    init(_ events: [IncomingEvent]) { self.events = events }

    /// Those of a kind, in order.
    ///
    /// One that cannot be read is left out: its handler says so.
    public func all<Payload: EventData>(_ type: Payload.Type) -> [Event<Payload>] {
        self.events.compactMap { event -> Event<Payload>? in
            let attributes = event.attributes
            guard attributes.type == Payload.type, attributes.majorVersion == Payload.majorVersion else { return nil }
            return try? EventHandlers.event(attributes, event.body)
        }
    }
}
