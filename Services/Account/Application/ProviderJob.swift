import AnchorClient
import Messaging

/// The kinds of jobs that account runs.
enum AccountJob {
    static let openAccount: JobKind = "open_account"
    static let fetchAccount: JobKind = "fetch_account"
    static let readPayment: JobKind = "read_payment"
    static let sweepPayments: JobKind = "sweep_payments"
}

/// Keeps the calls of jobs to the provider.
typealias ProviderCalls = ProviderCallLog<AnchorError>

extension JobOutcome {
    /// What an error of the provider means for the job.
    ///
    /// Reasons are codes: they stand in a table that people read.
    init(_ error: AnchorError) {
        switch error.remedy {
        // The event says approved and the provider's other half does not know it yet.
        case .refused(.verificationRequired): self = .again(reason: "verification_required", after: nil)
        case .refused(let code): self = .failed(reason: "refused_\(code.rawValue)")
        case .absent: self = .again(reason: "not_found_at_provider", after: nil)
        case .repeatLater(let reason, let pause): self = .again(reason: reason, after: pause)
        }
    }

    /// Runs a job's work and turns the provider's errors into outcomes.
    static func of(_ work: () async throws -> JobOutcome) async throws -> JobOutcome {
        do {
            return try await work()
        } catch let error as AnchorError {
            return JobOutcome(error)
        }
    }
}

extension AccountError: JobError {
    var jobOutcome: JobOutcome? { self == .erased ? .cancelled(reason: "erased") : nil }
}
