import Foundation

/// What a service answered to a batch of events.
struct TargetAnswer: Sendable {
    /// How it ended for the events at the beginning of the batch, in their order.
    let results: [Result]
    /// What a dry run found.
    let changes: [FoundChange]
    let differing: Int64

    /// How it ended for an event.
    struct Result: Sendable {
        let id: UUID
        let outcome: Outcome
        let reason: String?
    }

    /// How.
    enum Outcome: String, Sendable {
        case applied
        case known
        case refused
        case failed
        case unheard
    }
}

/// Something that a dry run found.
struct FoundChange: Sendable {
    let kind: String
    /// JSON, as the service told it.
    let body: String
}

/// An event of a replay that took no effect although it should have.
struct ReplayTrouble: Sendable {
    let event: UUID
    let type: String
    let subject: String
    let outcome: String
    let reason: String
}

/// What a replay has learned from an answer.
struct ReplayProgress: Sendable {
    var counts = Replay.Counts()
    var changes: [FoundChange] = []
    var troubles: [ReplayTrouble] = []
}
