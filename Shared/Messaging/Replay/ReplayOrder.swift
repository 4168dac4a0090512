public import Foundation

/// What an operator wants done with events that are handled again.
public struct ReplayOrder: Sendable {
    /// What becomes of what the handlers do.
    public enum Mode: String, Sendable, Decodable {
        /// It is rolled back.
        case dryRun = "dry_run"
        /// It is committed, for events that the inbox does not know.
        case run
    }

    /// Whether what is asked for outside is done.
    public enum Effects: String, Sendable, Decodable {
        /// Jobs are recorded as skipped.
        case off
        /// Jobs run.
        case on
    }

    /// Names the replay; events carry it as `replayid`.
    public let id: UUID
    /// What becomes of what the handlers do.
    public let mode: Mode
    /// Whether what is asked for outside is done.
    public let effects: Effects
    /// Who wants it, and why.
    public let order: OperatorOrder

    /// Puts an order together.
    public init(id: UUID, mode: Mode, effects: Effects, order: OperatorOrder) {
        self.id = id
        self.mode = mode
        self.effects = effects
        self.order = order
    }
}
