import Foundation

/// Which events are looked for; what is nil does not matter.
struct EventFilter: Sendable {
    /// Ids from here on: the beginning of a span of time.
    var first: UUID?
    /// Ids before this one: its end.
    var end: UUID?
    var type: String?
    /// Any of these.
    var types: [String]?
    var source: String?
    var subject: String?
    var correlation: UUID?
    var causation: UUID?
}

/// An event as it is read back.
struct StoredEvent: Sendable {
    let id: UUID
    let position: Int64
    let storedAt: Date
    let origin: String
    let body: String
}

/// What a trace needs to know of an event.
struct TracedEvent: Sendable, Hashable {
    let id: UUID
    let position: Int64
    let time: Date
    let source: String
    let type: String
    let subject: String
    let sequence: Int64
    let correlationID: UUID?
    let causationID: UUID?
    let references: [String]
}
