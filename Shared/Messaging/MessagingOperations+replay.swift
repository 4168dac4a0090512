public import Foundation
import Logging

extension MessagingOperations {
    /// The most events that are taken at once.
    public static let replayedAtOnce = 500

    /// Handles events again.
    ///
    /// When time is short only those at the beginning have a result: send the rest again.
    ///
    /// - Parameters:
    ///   - bodies: Envelopes, at most `replayedAtOnce`.
    ///   - order: What is wanted, by whom.
    /// - Returns: How it ended for each.
    /// - Throws: `ReplayProblem`, and what the database says.
    public func replay(_ bodies: [Data], as order: ReplayOrder) async throws -> ReplayAnswer {
        precondition(bodies.count <= Self.replayedAtOnce, "a batch has an end")
        let events = try bodies.enumerated().map { index, body in
            guard let event = IncomingEvent(body: body) else { throw ReplayProblem.notAnEvent(line: index + 1) }
            return event.replayed(by: order.id)
        }
        let handlers = self.parking.handlers
        switch order.mode {
        case .run:
            let run = ReplayRun(handlers: handlers, database: self.database, order: order, logger: self.parking.logger)
            return try await Replaying()(events) { try await run($0) }
        case .dryRun:
            let run = DryRun(handlers: handlers, database: self.database, logger: self.parking.logger)
            return try await Replaying()(events) { batch in
                try await run.prepare()
                return try await run(batch)
            }
        }
    }
}
