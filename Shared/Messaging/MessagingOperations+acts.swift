public import Foundation
import Postgres
import Primitives

/// What operators do; each act stands in the audit with who did it and why, in the commit of its effect.
extension MessagingOperations {
    /// Publishes again what was sent within a span from now; who has handled it drops it.
    ///
    /// For a queue that was lost while this service did not run, or that held more than `TopologyGuardian` sends again.
    ///
    /// - Returns: How many events.
    public func resendOutbox(sentWithin span: Duration, by order: OperatorOrder) async throws -> Int {
        try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            let count = try await EventDatabase.resend(sentWithin: span, in: transaction)
            let after = Resent(minutes: span.components.seconds / 60, events: count)
            try await transaction.record("outbox.resent", on: "outbox", after: after, by: order)
            return count
        }
    }

    /// Retries the parked events of a subject, in order, at most once per decision.
    ///
    /// Each event is a transaction of its own, so the order and the end are two acts: an order without an end was cut off,
    /// and goes on when the same decision comes again.
    ///
    /// - Parameters:
    ///   - subject: Whose events.
    ///   - decision: Named by whoever decides; the same one again has the same answer. Nil makes up a new one.
    ///   - order: Who decides and why.
    /// - Returns: The decision, and what came of it.
    /// - Throws: `PostgresError`.
    public func retryParked(
        subject: String,
        decision: UUID? = nil,
        by order: OperatorOrder
    ) async throws -> (decision: UUID, result: ParkedRetry) {
        let decision = RetryDecision(id: decision ?? self.database.tools.ids.next(), subject: subject, order: order)
        // Also when it was cut off: what was applied may have asked for work.
        defer { self.database.wake() }
        return (decision.id, try await self.parking.retry(decision))
    }

    /// Drops one parked event for good; false when it is not there.
    public func discardParked(subject: String, event: UUID, by order: OperatorOrder) async throws -> Bool {
        try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            guard let gone = try await self.parking.discard(subject: subject, event: event, in: transaction) else {
                return false
            }
            try await transaction.record("parked.discarded", on: subject, before: gone, by: order)
            return true
        }
    }

    // MARK: What the audit says of them

    private struct Resent: Encodable, Sendable {
        let minutes: Int64
        let events: Int
    }
}
