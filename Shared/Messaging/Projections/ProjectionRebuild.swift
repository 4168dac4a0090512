public import Foundation
import Postgres

/// A generation of a projection that is being made beside the live one, or was.
public struct ProjectionRebuild: Hashable, Sendable {
    /// How it stands.
    public enum State: String, Sendable {
        /// Events are being applied.
        case building
        /// People see it, or saw it until the next one.
        case live
        /// It was given up.
        case cancelled
    }

    /// The generation that is made.
    public let generation: Int
    /// The one that it stands beside.
    public let replaces: Int
    /// Whose events it is made of: a replay of console's.
    public let replay: UUID
    /// How it stands.
    public let state: State
    /// Events that were sent to it and took effect.
    public let applied: Int
    /// Events that were sent to it and did not: it had them already, or they wait parked.
    public let known: Int
    /// In how many rows it differed from what it replaced; nil until it did, and when that took too long to find out.
    public let rowsChanged: Int?
    /// Who ordered it.
    public let orderedBy: String
    /// Why.
    public let reason: String
    /// When it began.
    public let startedAt: Date
    /// When people saw it, or when it was given up.
    public let finishedAt: Date?

    static let columns: SQL = """
        generation::bigint, replaces::bigint, replay_id, state, applied, known, rows_changed, ordered_by, order_reason,
        started_at, finished_at
        """

    init(_ row: PostgresRow) throws {
        let (generation, replaces, replay, state, applied, known, changed, name, reason, started, finished) =
            try row.decode(
                Int64.self,
                Int64.self,
                UUID.self,
                String.self,
                Int64.self,
                Int64.self,
                Int64?.self,
                String.self,
                String.self,
                Date.self,
                Date?.self
            )
        self.generation = Int(generation)
        self.replaces = Int(replaces)
        self.replay = replay
        self.state = State(rawValue: state) ?? .cancelled
        self.applied = Int(applied)
        self.known = Int(known)
        self.rowsChanged = changed.map(Int.init)
        self.orderedBy = name
        self.reason = reason
        self.startedAt = started
        self.finishedAt = finished
    }
}

/// Why a rebuild cannot begin or go on.
public enum RebuildProblem: Error, Hashable, Sendable {
    /// The service declares no such projection.
    case unknownProjection
    /// Another rebuild of it is under way.
    case underWay
    /// This rebuild is not under way: it has ended, or never began.
    case notUnderWay
    /// The archive begins later than the projection: what came before would be lost.
    case archiveBeginsLater(archive: Date, projection: Date)
    /// This line of a page, from 1, is no event; nothing of the page was applied.
    case notAnEvent(line: Int)
    /// An event cannot be applied; nothing of its page was.
    case notApplicable(reason: String)
}

/// What became of the attempt to put a rebuild in the place of the live generation.
public enum RebuildEnd: Hashable, Sendable {
    /// People see it.
    case live(ProjectionRebuild)
    /// The service has handled events that it does not have, at least this many: the archive is behind, or not whole.
    case missing(Int)
}

/// A projection and how it stands.
public struct ProjectionStatus: Sendable {
    /// What was declared.
    public let projection: Projection
    /// The generation that people see.
    public let generation: Int
    /// No event before this moment is in it.
    public let since: Date
    /// The newest rebuild.
    public let rebuild: ProjectionRebuild?
}
