import AnchorClient
import Messaging

/// The kinds of jobs that customer runs.
enum CustomerJob {
    static let createCustomer: JobKind = "create_customer"
    static let startVerification: JobKind = "start_verification"
    static let verifyBeneficiary: JobKind = "verify_beneficiary"
    static let compareNames: JobKind = "compare_names"
    static let enquireName: JobKind = "enquire_name"
    static let refreshBanks: JobKind = "refresh_banks"
    static let discardImage: JobKind = "discard_image"
    static let listDocuments: JobKind = "list_documents"
    static let deliverDocument: JobKind = "deliver_document"
    static let collectExport: JobKind = "collect_export"
}

/// Keeps the calls of jobs to the provider.
typealias ProviderCalls = ProviderCallLog<AnchorError>

extension JobOutcome {
    /// What an error of the provider means for the job.
    ///
    /// Reasons are codes: they stand in a table that people read.
    init(_ error: AnchorError) {
        switch error.remedy {
        case .refused(let code): self = .failed(reason: "refused_\(code.rawValue)")
        case .absent: self = .failed(reason: "not_found_at_provider")
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

extension CustomerError: JobError {
    var jobOutcome: JobOutcome? { self == .erased ? .cancelled(reason: "erased") : nil }
}
