import Contracts
import Foundation

/// One service handles archived events again, as an operator wants it.
struct Replay: Sendable {
    let id: UUID
    let order: Order
    /// Who wants it.
    let operatorName: String
    let reason: String
    /// Events that were stored behind this position are not part of it.
    let upTo: Int64
    /// How many events were selected when it began.
    let planned: Int64
    let createdAt: Date
    var state: State
    /// Everything up to this id is behind it.
    var place: UUID
    var counts: Counts
    /// Why it waits, or why it has failed.
    var error: String?
    var updatedAt: Date
    var finishedAt: Date?

    /// What is done.
    struct Order: Sendable {
        let service: ServiceName
        let mode: Mode
        let effects: Effects
        /// The most events per second.
        let rate: Int
        let selection: ReplaySelection
        /// What is made again, in a rebuild.
        var projection: String?
    }

    /// What the service does with the events.
    enum Mode: String, Codable, Sendable {
        /// Handlers run in transactions that are rolled back.
        case dryRun = "dry_run"
        /// What the inbox does not know takes effect.
        case run
        /// A projection is made of them, beside the one that people see.
        case rebuild
    }

    /// Whether what is asked for outside is done.
    enum Effects: String, Codable, Sendable {
        case off
        case on
    }

    /// Where it is.
    enum State: String, Sendable {
        case running
        case finished
        case failed
        case cancelled
    }

    /// How the events behind it ended.
    struct Counts: Sendable, Hashable {
        var done: Int64 = 0
        var applied: Int64 = 0
        var known: Int64 = 0
        var refused: Int64 = 0
        var failed: Int64 = 0
        var differing: Int64 = 0
    }

    /// How many events per second, unless somebody says otherwise.
    static let usualRate = 500
    /// The bounds of a rate.
    static let rates = 1...20_000
}

/// Which events are replayed; what is nil does not matter.
struct ReplaySelection: Sendable, Hashable, Codable {
    var from: Date?
    var to: Date?
    var types: [String]?
    var subject: String?
    var correlation: UUID?
    var ids: [UUID]?

    static let maximumTypes = 100
    static let maximumIDs = 1000

    /// Whether it says where to look; everything that ever happened is too much for a slip.
    var isBounded: Bool { self.from != nil || self.subject != nil || self.correlation != nil || self.ids != nil }

    /// The kinds of events that a service is given: those it hears, of those that are selected.
    func types(heardBy service: ServiceName) -> [String] {
        let heard = Set(EventCatalogue.types(consumedBy: service).map(\.rawValue))
        guard let types = self.types else { return heard.sorted() }
        return heard.intersection(types).sorted()
    }
}
