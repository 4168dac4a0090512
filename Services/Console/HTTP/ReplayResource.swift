import Contracts
import Foundation
import Primitives

/// A replay as JSON.
struct ReplayResource: Encodable {
    let id: String
    let service: String
    let mode: String
    let projection: String?
    let effects: String
    let rate: Int
    let selection: Selection
    let state: String
    let progress: Progress
    let counts: Counts
    let error: String?
    let operatorName: String
    let reason: String
    let createdAt: String
    let updatedAt: String
    let finishedAt: String?

    /// Which events.
    struct Selection: Encodable {
        let from: String?
        let to: String?
        let types: [String]?
        let subject: String?
        let correlation: String?
        let ids: [String]?
    }

    /// How far it is.
    struct Progress: Encodable {
        let planned: Int64
        let done: Int64
    }

    /// How the events ended.
    struct Counts: Encodable {
        let applied: Int64
        let known: Int64
        let refused: Int64
        let failed: Int64
        let differing: Int64
    }

    private enum CodingKeys: String, CodingKey {
        case id, service, mode, projection, effects, rate, selection, state, progress, counts, error, reason
        case operatorName = "operator"
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case finishedAt = "finished_at"
    }

    init(_ replay: Replay) {
        self.id = replay.id.lowercased
        self.service = replay.order.service.rawValue
        self.mode = replay.order.mode.rawValue
        self.projection = replay.order.projection
        self.effects = replay.order.effects.rawValue
        self.rate = replay.order.rate
        let selection = replay.order.selection
        self.selection = Selection(
            from: selection.from.map(Timestamp.text),
            to: selection.to.map(Timestamp.text),
            types: selection.types,
            subject: selection.subject,
            correlation: selection.correlation?.lowercased,
            ids: selection.ids?.map(\.lowercased)
        )
        self.state = replay.state.rawValue
        let counts = replay.counts
        self.progress = Progress(planned: replay.planned, done: counts.done)
        self.counts = Counts(
            applied: counts.applied,
            known: counts.known,
            refused: counts.refused,
            failed: counts.failed,
            differing: counts.differing
        )
        self.error = replay.error
        self.operatorName = replay.operatorName
        self.reason = replay.reason
        self.createdAt = Timestamp.text(replay.createdAt)
        self.updatedAt = Timestamp.text(replay.updatedAt)
        self.finishedAt = replay.finishedAt.map(Timestamp.text)
    }
}

/// Replays, the newest first.
struct ReplayList: Encodable {
    let data: [ReplayResource]
    let nextCursor: String?

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }
}

/// What a replay would be about, as JSON.
struct PlanResource: Encodable {
    let service: String
    /// That the service hears.
    let events: Int64
    let isComplete: Bool
    let first: String?
    let last: String?
    let types: [Kind]

    /// How many of a kind.
    struct Kind: Encodable {
        let type: String
        let events: Int64
        let isHeard: Bool

        private enum CodingKeys: String, CodingKey {
            case type, events
            case isHeard = "is_heard"
        }
    }

    private enum CodingKeys: String, CodingKey {
        case service, events, first, last, types
        case isComplete = "is_complete"
    }
}

extension PlanResource {
    init(_ plan: ReplayReads.Plan, of selection: ReplaySelection, for service: ServiceName) {
        let heard = Set(selection.types(heardBy: service))
        let moments = plan.types.filter { heard.contains($0.type) }
        self.service = service.rawValue
        self.events = min(moments.reduce(0) { $0 + $1.events }, ReplayReads.countable)
        self.isComplete = plan.isComplete
        self.first = moments.compactMap(\.first.version7Milliseconds).min().map(Self.text)
        self.last = moments.compactMap(\.last.version7Milliseconds).max().map(Self.text)
        self.types = plan.types.map { Kind(type: $0.type, events: $0.events, isHeard: heard.contains($0.type)) }
    }

    private static func text(_ milliseconds: Int64) -> String {
        Timestamp.text(Date(millisecondsSince1970: milliseconds))
    }
}

/// An event of a replay that took no effect, as JSON.
struct TroubleResource: Encodable {
    let number: Int64
    let event: String
    let type: String
    let subject: String
    let outcome: String
    let reason: String

    init(_ number: Int64, _ trouble: ReplayTrouble) {
        self.number = number
        self.event = trouble.event.lowercased
        self.type = trouble.type
        self.subject = trouble.subject
        self.outcome = trouble.outcome
        self.reason = trouble.reason
    }
}

/// Such events, in the order in which they came.
struct TroubleList: Encodable {
    let data: [TroubleResource]
    let nextCursor: String?

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }
}
