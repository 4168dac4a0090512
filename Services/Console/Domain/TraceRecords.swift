import Foundation
import Primitives

/// A run of a job that did not end it.
struct JobRun: Sendable, Hashable, Codable {
    let attempt: Int
    let startedAt: String?
    let endedAt: String?
    let outcome: String?
    let error: String?

    private enum CodingKeys: String, CodingKey {
        case attempt, outcome, error
        case startedAt = "started_at"
        case endedAt = "ended_at"
    }
}

/// What a service knows of a trace: its answer to `GET /internal/ops/trace`.
struct TraceRecords: Sendable, Decodable {
    struct Request: Sendable, Decodable {
        let id: UUID
        let method: String
        let route: String
        let status: Int
        let startedAt: String
        let microseconds: Int64
        let traceparent: String?

        private enum CodingKeys: String, CodingKey {
            case id, method, route, status, microseconds, traceparent
            case startedAt = "started_at"
        }
    }

    struct Handled: Sendable, Decodable {
        let id: UUID
        let type: String
        let outcome: String
        let microseconds: Int64
        let handledAt: String
        let correlationID: UUID?

        private enum CodingKeys: String, CodingKey {
            case id, type, outcome, microseconds
            case handledAt = "handled_at"
            case correlationID = "correlation_id"
        }
    }

    struct Job: Sendable, Decodable {
        let id: UUID
        let kind: String
        let key: String
        let subject: String?
        let state: String
        let dueAt: String
        let attempts: Int
        let lastError: String?
        let correlationID: UUID?
        let causationID: UUID?
        let traceparent: String?
        let createdAt: String
        let finishedAt: String?
        let runs: [JobRun]?

        private enum CodingKeys: String, CodingKey {
            case id, kind, key, subject, state, attempts, traceparent, runs
            case dueAt = "due_at"
            case lastError = "last_error"
            case correlationID = "correlation_id"
            case causationID = "causation_id"
            case createdAt = "created_at"
            case finishedAt = "finished_at"
        }
    }

    struct ProviderCall: Sendable, Decodable {
        let reference: String
        let attempt: Int
        let operation: String
        let startedAt: String
        let endedAt: String?
        let outcome: String?
        let correlationID: UUID?
        let jobID: UUID?

        private enum CodingKeys: String, CodingKey {
            case reference, attempt, operation, outcome
            case startedAt = "started_at"
            case endedAt = "ended_at"
            case correlationID = "correlation_id"
            case jobID = "job_id"
        }
    }

    var requests: [Request]
    var handled: [Handled]
    var jobs: [Job]
    var providerCalls: [ProviderCall]

    private enum CodingKeys: String, CodingKey {
        case requests, handled, jobs
        case providerCalls = "provider_calls"
    }

    /// All correlations that it names.
    var correlations: Set<UUID> {
        Set(self.jobs.compactMap(\.correlationID) + self.providerCalls.compactMap(\.correlationID))
    }

    var isEmpty: Bool {
        self.requests.isEmpty && self.handled.isEmpty && self.jobs.isEmpty && self.providerCalls.isEmpty
    }

    /// The first trace id that a request or a job of a correlation has.
    func traceID(of correlation: UUID) -> String? {
        let texts =
            self.requests.filter { $0.id == correlation }.map(\.traceparent)
            + self.jobs.filter { $0.correlationID == correlation }.map(\.traceparent)
        // 00-<32 digits>-<16 digits>-<2 digits>
        return texts.compactMap { $0?.split(separator: "-").dropFirst().first.map(String.init) }.first
    }
}
