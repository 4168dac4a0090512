import Contracts
public import Foundation
import Primitives

/// How it ended for one event.
public struct ReplayedEvent: Sendable, Encodable, Equatable {
    /// How.
    public enum Outcome: String, Sendable, Encodable {
        /// It took effect; in a dry run it was tried.
        case applied
        /// It had taken effect before.
        case known
        /// It must not be handled now.
        case refused
        /// Its handler failed.
        case failed
        /// The service does not hear such events.
        case unheard
    }

    /// The event.
    public let id: UUID
    /// How it ended.
    public let outcome: Outcome
    /// Why, for what was refused or failed.
    public let reason: String?

    private enum CodingKeys: String, CodingKey {
        case id, outcome, reason
    }

    init(_ event: IncomingEvent, _ outcome: Outcome, _ reason: String? = nil) {
        self.id = event.attributes.id
        self.outcome = outcome
        self.reason = reason
    }

    /// Ids in lower case.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.id.lowercased, forKey: .id)
        try container.encode(self.outcome, forKey: .outcome)
        try container.encodeIfPresent(self.reason, forKey: .reason)
    }
}

/// How it ended for a batch, or for the events at its beginning when time was short.
public struct ReplayAnswer: Sendable, Encodable {
    /// One per event, in their order.
    public internal(set) var results: [ReplayedEvent] = []
    /// Of a dry run: what would change, at most so many.
    public internal(set) var changes: [ReplayChange] = []
    /// Of a dry run: how many changes there are, leaving out rows that later events have written since.
    public internal(set) var differing = 0

    static let maximumChanges = 500

    mutating func append(_ more: ReplayAnswer) {
        self.results += more.results
        self.changes += more.changes.prefix(max(0, Self.maximumChanges - self.changes.count))
        self.differing += more.differing
    }
}

/// Why a batch cannot be handled again.
public enum ReplayProblem: Error, Sendable, Equatable {
    /// The line at this place is no event.
    case notAnEvent(line: Int)
    /// The database, or somebody's locks, did not let it.
    case busy
}
