import Foundation
import Postgres
import Primitives

/// What became of a retry.
public enum ParkedRetry: Sendable, Equatable {
    /// All waiting events were applied, this many.
    case applied(Int)
    /// This many were applied, then one failed again and stays first.
    case failedAgain(applied: Int, reason: String)
    /// Another retry of the subject is under way, or this very one.
    case refused
    /// Nothing was parked there.
    case nothingParked
    /// It was cut off after this many, and another decision has taken over.
    case cutOff(applied: Int)
    /// The decision was about another subject.
    case decisionUsed
}

extension ParkedRetry {
    /// The outcome as programs read it.
    public var word: String {
        switch self {
        case .applied: "applied"
        case .failedAgain: "failed_again"
        case .refused: "refused"
        case .nothingParked: "nothing_parked"
        case .cutOff: "cut_off"
        case .decisionUsed: "decision_used"
        }
    }
}

/// An operator's decision to retry what is parked of a subject.
///
/// Its id is chosen by whoever decides: sent again it is the same decision, which takes effect once and has one answer.
struct RetryDecision: Sendable {
    let id: UUID
    let subject: String
    let order: OperatorOrder

    var cause: Cause { Cause(correlationID: self.order.request) }

    /// What came of it, when it has ended or was about something else; nil when it may begin or go on.
    func answer(on connection: PostgresConnection) async throws -> ParkedRetry? {
        let rows = try await connection.query(
            "SELECT subject, outcome, applied, error FROM parked_retries WHERE id = \(self.id)"
        )
        guard let row = rows.first else { return nil }
        let (subject, outcome, applied, error) = try row.decode(String.self, String?.self, Int32.self, String?.self)
        guard subject == self.subject else { return .decisionUsed }
        switch outcome {
        case "applied": return .applied(Int(applied))
        case "failed_again": return .failedAgain(applied: Int(applied), reason: error ?? "")
        case "cut_off": return .cutOff(applied: Int(applied))
        case "nothing_parked": return .nothingParked
        default: return nil
        }
    }

    /// Begins it, or takes up again what was cut off; whether there is something to retry.
    ///
    /// Only with the lock of the subject: an open decision of somebody else ended with its process then.
    func open(in transaction: EventTransaction) async throws -> Bool {
        try await transaction.query(
            """
            UPDATE parked_retries SET ended_at = \(transaction.now), outcome = 'cut_off'
            WHERE subject = \(self.subject) AND ended_at IS NULL AND id <> \(self.id)
            """
        )
        let begun = try await transaction.query(
            """
            INSERT INTO parked_retries (id, subject, operator, begun_at)
            VALUES (\(self.id), \(self.subject), \(self.order.name), \(transaction.now))
            ON CONFLICT (id) DO NOTHING RETURNING 1
            """
        )
        guard let before = try await self.parked(transaction) else { return false }
        if !begun.isEmpty {
            try await transaction.record(
                "parked.retry_ordered",
                on: self.subject,
                before: before,
                after: Ordered(decision: self.id.lowercased),
                by: self.order
            )
        }
        return true
    }

    /// Ends it; what counts is what was applied since it was decided, by whichever process.
    func close(_ result: ParkedRetry, isAct: Bool, in transaction: EventTransaction) async throws -> ParkedRetry {
        let rows = try await transaction.query("SELECT applied FROM parked_retries WHERE id = \(self.id) FOR UPDATE")
        let applied = Int(try rows.first?.decode(Int32.self) ?? 0)
        let whole = result.counting(applied)
        try await transaction.query(
            """
            UPDATE parked_retries SET ended_at = \(transaction.now), outcome = \(whole.word), error = \(whole.reason)
            WHERE id = \(self.id) AND ended_at IS NULL
            """
        )
        if isAct || applied > 0 {
            let end = End(decision: self.id.lowercased, outcome: whole.word, applied: applied, reason: whole.reason)
            try await transaction.record("parked.retried", on: self.subject, after: end, by: self.order)
        }
        return whole
    }

    // MARK: What the audit says of it

    private struct Ordered: Encodable, Sendable {
        let decision: String
    }

    private struct End: Encodable, Sendable {
        let decision: String
        let outcome: String
        let applied: Int
        let reason: String?
    }

    private struct ParkedBefore: Encodable, Sendable {
        let events: Int64
        let reason: String
    }

    private func parked(_ transaction: EventTransaction) async throws -> ParkedBefore? {
        let rows = try await transaction.query(
            """
            SELECT (SELECT count(*) FROM parked_events e WHERE e.subject = k.subject), k.reason
            FROM parked_keys k WHERE k.subject = \(self.subject)
            """
        )
        return try rows.first.map { row in
            let (events, reason) = try row.decode(Int64.self, String.self)
            return ParkedBefore(events: events, reason: reason)
        }
    }
}

extension ParkedRetry {
    /// The same end, of all that was applied.
    fileprivate func counting(_ applied: Int) -> ParkedRetry {
        switch self {
        case .applied: .applied(applied)
        case .failedAgain(_, let reason): .failedAgain(applied: applied, reason: reason)
        case .nothingParked: applied == 0 ? .nothingParked : .applied(applied)
        case .refused, .cutOff, .decisionUsed: self
        }
    }

    fileprivate var reason: String? {
        guard case .failedAgain(_, let reason) = self else { return nil }
        return reason
    }
}
