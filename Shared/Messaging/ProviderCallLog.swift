import Foundation
import Postgres

/// The table `provider_calls`: a row is committed before each call, so that a crash cannot hide one.
///
/// `Failure` is the error of the provider's client; its description goes into the table, so it must hold no payload and
/// no secret.
public struct ProviderCallLog<Failure: Error & CustomStringConvertible>: Sendable {
    private let database: EventDatabase

    /// Keeps the calls in a database, whose connection must be a worker's.
    public init(database: EventDatabase) { self.database = database }

    /// The time a call may take; later than this it is known to have ended.
    public static var deadline: Duration { .seconds(10) }

    /// Makes a call for a job, with a row before and its outcome after.
    ///
    /// An outcome that cannot be written is not an error: the row says by itself that the outcome is not known.
    ///
    /// - Parameters:
    ///   - operation: What is asked of the provider, for operators.
    ///   - reference: What the call is about. With the job's attempt it names the row.
    ///   - job: The job that makes the call.
    ///   - body: The call.
    /// - Returns: What the provider answered.
    /// - Throws: What `body` throws; `PostgresError` when the row could not be written, and then no call was made.
    public func call<Answer: Sendable>(
        _ operation: String,
        _ reference: String,
        of job: Job,
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        try await self.begin(operation, reference, job)
        let start = ContinuousClock.now
        let result: Result<Answer, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let outcome = Self.outcome(result)
        self.database.trace(
            call: operation,
            reference,
            of: job,
            took: start.duration(to: .now),
            failure: outcome == Self.accepted ? nil : outcome
        )
        try? await self.end(reference, job, outcome: outcome)
        return try result.get()
    }

    private func begin(_ operation: String, _ reference: String, _ job: Job) async throws {
        let seconds = Self.deadline / .seconds(1)
        try await self.database.transaction(cause: job.cause) { transaction in
            try await transaction.stage(
                """
                INSERT INTO provider_calls
                    (reference, attempt, operation, started_at, deadline_at, correlation_id, job_id)
                VALUES (\(reference), \(Int32(job.attempt)), \(operation), transfa_now(),
                    transfa_now() + \(seconds) * interval '1 second', \(job.cause.correlationID), \(job.id))
                ON CONFLICT (reference, attempt) DO UPDATE SET started_at = excluded.started_at,
                    deadline_at = excluded.deadline_at, ended_at = NULL, outcome = NULL, job_id = excluded.job_id
                """
            )
        }
    }

    private func end(_ reference: String, _ job: Job, outcome: String) async throws {
        try await self.database.transaction(cause: job.cause) { transaction in
            try await transaction.stage(
                """
                UPDATE provider_calls SET ended_at = transfa_now(), outcome = \(outcome)
                WHERE reference = \(reference) AND attempt = \(Int32(job.attempt))
                """
            )
        }
    }

    private static var accepted: String { "accepted" }

    private static func outcome<Answer>(_ result: Result<Answer, any Error>) -> String {
        switch result {
        case .success: Self.accepted
        case .failure(let error as Failure): error.description
        case .failure: "interrupted"
        }
    }
}
