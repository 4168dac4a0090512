public import Foundation
import Postgres
import Primitives

/// Which jobs to list.
public struct JobFilter: Sendable {
    /// In this state; nil: in any.
    public var state: String?
    /// Of this kind; nil: of any.
    public var kind: String?
    /// About this; nil: about anything.
    public var subject: String?
    /// Only those that wait for a later time.
    public var isDelayed: Bool

    /// All, unless told otherwise.
    public init(state: String? = nil, kind: String? = nil, subject: String? = nil, isDelayed: Bool = false) {
        self.state = state
        self.kind = kind
        self.subject = subject
        self.isDelayed = isDelayed
    }
}

/// What operators see of jobs and do about them.
extension MessagingOperations {
    private static let columns: SQL = """
        id, kind, key, subject, state, due_at, attempts, last_error, lease_until, correlation_id, created_at, started_at,
        finished_at
        """

    /// Jobs, the newest first; delayed ones with the soonest first.
    public func jobs(_ filter: JobFilter, limit: Int) async throws -> String {
        let order: SQL = filter.isDelayed ? "due_at, id" : "created_at DESC"
        return try await self.json(
            """
            SELECT coalesce(json_agg(j), '[]')::text FROM (
                SELECT \(Self.columns) FROM jobs
                WHERE (\(filter.state)::text IS NULL OR state = \(filter.state))
                    AND (\(filter.kind)::text IS NULL OR kind = \(filter.kind))
                    AND (\(filter.subject)::text IS NULL OR subject = \(filter.subject))
                    AND (NOT \(filter.isDelayed) OR state = 'queued' AND due_at > transfa_now())
                ORDER BY \(order) LIMIT \(Int64(limit))) j
            """
        )
    }

    /// A job, with the runs that did not end it well; nil when there is none.
    public func job(_ id: UUID) async throws -> String? {
        let rows = try await self.database.client.query(
            """
            SELECT row_to_json(j)::text FROM (
                SELECT \(Self.columns), coalesce(runs, '{}') AS runs FROM jobs WHERE id = \(id)) j
            """
        )
        return try rows.first?.decode(String.self)
    }

    /// Makes a waiting, failed or skipped job due now; false when there is none in such a state.
    public func releaseJob(_ id: UUID, by order: OperatorOrder) async throws -> Bool {
        try await self.run(id, in: ["queued", "failed", "skipped"], act: "job.released", by: order)
    }

    /// Has a failed, cancelled or skipped job run again, now; false when there is none in such a state.
    public func retryJob(_ id: UUID, by order: OperatorOrder) async throws -> Bool {
        try await self.run(id, in: ["failed", "cancelled", "skipped"], act: "job.retried", by: order)
    }

    private func run(_ id: UUID, in states: [String], act: String, by order: OperatorOrder) async throws -> Bool {
        try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            guard let job = try await Self.job(id, in: states, transaction) else { return false }
            try await transaction.query(
                "UPDATE jobs SET state = 'queued', due_at = transfa_now(), finished_at = NULL WHERE id = \(id)"
            )
            try await transaction.record(act, on: id.lowercased, before: job, after: job.now("queued"), by: order)
            return true
        }
    }

    /// Cancels a waiting or failed job; false when there is none in such a state.
    public func cancelJob(_ id: UUID, by order: OperatorOrder) async throws -> Bool {
        try await self.database.transaction(cause: Cause(correlationID: order.request)) { transaction in
            guard let job = try await Self.job(id, in: ["queued", "failed"], transaction) else { return false }
            try await transaction.query(
                """
                UPDATE jobs SET state = 'cancelled', finished_at = transfa_now(), last_error = 'cancelled_by_operator'
                WHERE id = \(id)
                """
            )
            let after = job.now("cancelled")
            try await transaction.record("job.cancelled", on: id.lowercased, before: job, after: after, by: order)
            return true
        }
    }

    // MARK: What the audit says of them

    /// A job as the audit shows it; its key names what it is about and holds nothing personal.
    private struct AuditedJob: Encodable, Sendable {
        let kind: String
        let key: String
        var state: String
        let attempts: Int32
        var reason: String?

        func now(_ state: String) -> AuditedJob {
            var job = self
            job.state = state
            job.reason = nil
            return job
        }
    }

    /// The job, locked until the transaction ends; nil when it is in no such state.
    private static func job(
        _ id: UUID,
        in states: [String],
        _ transaction: EventTransaction
    ) async throws -> AuditedJob? {
        let rows = try await transaction.query(
            """
            SELECT kind, key, state, attempts, last_error FROM jobs
            WHERE id = \(id) AND state = ANY(\(states)) FOR UPDATE
            """
        )
        return try rows.first.map { row in
            let (kind, key, state, attempts, reason) = try row.decode(
                String.self,
                String.self,
                String.self,
                Int32.self,
                String?.self
            )
            return AuditedJob(kind: kind, key: key, state: state, attempts: attempts, reason: reason)
        }
    }
}
