import AnchorClient
import Messaging
import ServiceKit

/// The kinds of jobs that account runs.
enum AccountJob {
    static let openAccount: JobKind = "open_account"
    static let fetchAccount: JobKind = "fetch_account"
    static let readPayment: JobKind = "read_payment"
}

extension JobOutcome {
    /// What an error of the provider means for the job.
    ///
    /// Reasons are codes: they stand in a table that people read.
    init(_ error: AnchorError) {
        switch error {
        // The event says approved and the provider's other half does not know it yet.
        case .refused(_, _, .verificationRequired): self = .again(reason: "verification_required", after: nil)
        case .refused(_, _, let code): self = .failed(reason: "refused_\(code.rawValue)")
        case .notFound: self = .again(reason: "not_found_at_provider", after: nil)
        case .rateLimited(let pause): self = .again(reason: "rate_limited", after: pause)
        // Somebody has to mend the key; the work waits for it.
        case .unauthorised: self = .again(reason: "unauthorised", after: .seconds(60))
        case .unavailable, .timedOut, .connectionLost, .cancelled, .circuitOpen, .malformed:
            self = .again(reason: error.description, after: nil)
        }
    }

    /// Runs a job's work and turns the errors that have a meaning into outcomes.
    static func of(_ work: () async throws -> JobOutcome) async throws -> JobOutcome {
        do {
            return try await work()
        } catch let error as AnchorError {
            return JobOutcome(error)
        } catch AccountError.erased {
            return .cancelled(reason: "erased")
        } catch DataKeyError.unavailable {
            return .again(reason: "data_key_unavailable", after: nil)
        } catch DataKeyError.unknownUser {
            return .again(reason: "data_key_unknown", after: nil)
        }
    }
}

extension ProviderCallLog {
    /// Makes a call to the provider; the outcome that is kept is a code.
    func call<Answer: Sendable>(
        _ operation: String,
        _ reference: String,
        of job: Job,
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        let call = Call(reference: reference, attempt: job.attempt, operation: operation)
        return try await self.record(call, cause: job.cause, outcome: Self.outcome, body)
    }

    private static func outcome<Answer>(_ result: Result<Answer, any Error>) -> String {
        switch result {
        case .success: "accepted"
        case .failure(let error as AnchorError): error.description
        case .failure: "interrupted"
        }
    }
}
