import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit

/// Job: asks the provider to identify the user.
///
/// The verdict comes as an event of notification.
struct StartVerification: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let openDetails: OpenDetails
    let provider: any CustomerProvider
    let calls: ProviderCalls

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UserID(text: job.key), let user = try await self.users.find(id, as: nil, on: self.database),
            let customerID = user.anchorCustomerID
        else { return .cancelled(reason: "no_customer") }
        if job.attempt > 1, try await self.isUnderWay(customerID) {
            return .done
        }
        if user.verification == .known(.approved) { return .done }
        do {
            return try await self.start(job, customerID: customerID, user: user)
        } catch let error as AnchorError {
            guard let reason = RefuseDetails.Reason(error) else { throw error }
            return try await RefuseDetails(database: self.database, users: self.users)(reason, job, user: user)
        }
    }

    private func start(_ job: Job, customerID: String, user: CustomerUser) async throws -> JobOutcome {
        let details = try await self.openDetails(user)
        let reference = "verification:\(user.id)"
        if user.accountType?.value == .merchant {
            try await self.calls.call("start_verification", reference, of: job) {
                try await self.provider.startBusinessVerification(customerID: customerID, deadline: nil)
            }
            return .done
        }
        guard let form = ProviderForms.verification(details) else { return .cancelled(reason: "awaiting_details") }
        try await self.calls.call("start_verification", reference, of: job) {
            try await self.provider.startIndividualVerification(customerID: customerID, form, deadline: nil)
        }
        return .done
    }

    /// Whether an earlier attempt got through and needs no other.
    private func isUnderWay(_ customerID: String) async throws -> Bool {
        switch try await self.provider.customer(id: customerID, deadline: nil).verification {
        case .pending, .manualReview, .approved: true
        case .unverified, .rejected, .other: false
        }
    }
}
