public import Foundation
import Postgres
import Primitives

/// What a trace asks a service for.
public struct TraceQuestion: Sendable {
    /// Requests and webhooks that started it all.
    public var correlations: [UUID]
    /// Jobs by their ids.
    public var jobs: [UUID]
    /// References at the provider.
    public var references: [String]

    /// Asks for these.
    public init(correlations: [UUID] = [], jobs: [UUID] = [], references: [String] = []) {
        self.correlations = correlations
        self.jobs = jobs
        self.references = references
    }
}

extension MessagingOperations {
    /// The most rows of a kind in an answer about a trace.
    private static let mostTraced: Int64 = 2000
    private static let call: SQL =
        "reference, attempt, operation, started_at, ended_at, outcome, correlation_id, job_id"

    /// What happened here under some correlations: requests, handled events, jobs, calls to the provider.
    ///
    /// Jobs are also found by id, calls by reference too; what is found that way names its correlation.
    ///
    /// - Returns: JSON.
    /// - Throws: `PostgresError`.
    public func traced(_ question: TraceQuestion) async throws -> String {
        let (ids, jobs) = (question.correlations, question.jobs)
        // Whole rows of jobs: an older or newer version has other columns.
        return try await self.json(
            """
            SELECT json_build_object(
                'requests', (SELECT coalesce(json_agg(r ORDER BY r.started_at), '[]') FROM (
                    SELECT id, method, route, status, started_at, microseconds, traceparent FROM requests
                    WHERE id = ANY(\(ids)) LIMIT \(Self.mostTraced)) r),
                'handled', (SELECT coalesce(json_agg(h ORDER BY h.handled_at), '[]') FROM (
                    SELECT id, type, outcome, microseconds, handled_at, correlation_id FROM inbox
                    WHERE correlation_id = ANY(\(ids)) LIMIT \(Self.mostTraced)) h),
                'jobs', (SELECT coalesce(json_agg(j ORDER BY j.created_at), '[]') FROM (
                    SELECT id, kind, key, subject, state, due_at, attempts, last_error, correlation_id, causation_id,
                        traceparent, created_at, finished_at, to_jsonb(q) -> 'runs' AS runs
                    FROM (SELECT id FROM jobs WHERE correlation_id = ANY(\(ids)) UNION SELECT unnest(\(jobs))) k
                    JOIN jobs q USING (id) LIMIT \(Self.mostTraced)) j),
                'provider_calls', (SELECT coalesce(json_agg(c ORDER BY c.started_at), '[]') FROM (
                    SELECT \(Self.call) FROM provider_calls WHERE correlation_id = ANY(\(ids))
                    UNION
                    SELECT \(Self.call) FROM provider_calls WHERE reference = ANY(\(question.references))
                    LIMIT \(Self.mostTraced)) c)
            )::text
            """
        )
    }
}
