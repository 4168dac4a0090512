import Foundation
import Messaging
import Postgres

/// The table `provider_calls`: a row is committed before each call, so that a crash cannot hide one.
struct ProviderCallLog: Sendable {
    let database: EventDatabase

    /// One call that is about to be made.
    struct Call: Sendable {
        let reference: String
        let attempt: Int
        let operation: String
    }

    /// The time a call may take.
    static let deadline = Duration.seconds(10)

    /// Makes a call with a row before and its outcome after.
    ///
    /// An outcome that cannot be written is not an error: the row says by itself that the outcome is not known.
    func record<Answer>(
        _ call: Call,
        cause: Cause,
        outcome: (Result<Answer, any Error>) -> String,
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        let seconds = Self.deadline / .seconds(1)
        try await self.database.transaction(cause: cause) { transaction in
            try await transaction.stage(
                """
                INSERT INTO provider_calls (reference, attempt, operation, started_at, deadline_at, correlation_id)
                VALUES (\(call.reference), \(Int32(call.attempt)), \(call.operation), transfa_now(),
                    transfa_now() + \(seconds) * interval '1 second', \(cause.correlationID))
                ON CONFLICT (reference, attempt) DO UPDATE SET started_at = excluded.started_at,
                    deadline_at = excluded.deadline_at, ended_at = NULL, outcome = NULL
                """
            )
        }
        let result: Result<Answer, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        try? await self.end(call, outcome: outcome(result), cause: cause)
        return try result.get()
    }

    private func end(_ call: Call, outcome: String, cause: Cause) async throws {
        try await self.database.transaction(cause: cause) { transaction in
            try await transaction.stage(
                """
                UPDATE provider_calls SET ended_at = transfa_now(), outcome = \(outcome)
                WHERE reference = \(call.reference) AND attempt = \(Int32(call.attempt))
                """
            )
        }
    }
}
