import AnchorClient
import Contracts
import Messaging
import Primitives

/// What notification asks of the provider.
///
/// Only jobs do.
protocol NotificationProvider: Sendable {
    func customer(id: String, deadline: Duration?) async throws(AnchorError) -> CustomerSnapshot
}

extension AnchorClient: NotificationProvider {}

/// The kinds of jobs that notification runs.
enum NotificationJob {
    static let checkCustomer: JobKind = "check_customer"
    static let confirmVerdict: JobKind = "confirm_verdict"
    static let sendPush: JobKind = "send_push"
}

/// Job: asks the provider for the verdict about a customer until the customer is verified, so that no lost webhook keeps
/// anybody waiting.
struct CheckCustomer: Sendable {
    let database: EventDatabase
    let customers: CustomerStore
    let provider: any NotificationProvider
    let publishVerdict: PublishVerdict

    /// How long webhooks have before the first question.
    static let headStart = Duration.seconds(30)
    /// The time a call may take.
    static let deadline = Duration.seconds(10)
    /// The pause after a refusal, which only new details can change.
    static let pauseAfterRefusal = Duration.seconds(3600)

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        do {
            return try await self.run(job)
        } catch let error as AnchorError {
            return JobOutcome(error)
        }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let user = UserID(text: job.key), let known = try await self.customers.find(user, on: self.database)
        else { return .cancelled(reason: "customer_unknown") }
        if known.isVerified { return .done }
        let answer = try await self.provider.customer(id: known.anchorCustomerID, deadline: nil)
        guard let verdict = IdentityVerdict(answer.verification) else {
            return .again(reason: "not_decided", after: nil)
        }
        if verdict.rawValue != known.status {
            try await self.database.transaction(cause: job.cause) { transaction in
                try await self.customers.lockID(known.anchorCustomerID, in: transaction)
                let now = try await self.customers.find(anchorCustomerID: known.anchorCustomerID, in: transaction)
                // A webhook may have said it while we asked.
                guard let now, !now.isVerified, now.status == known.status else { return }
                try await self.publishVerdict(verdict, about: now, in: transaction)
            }
        }
        switch verdict {
        case .approved: return .done
        case .rejected, .reenterInformation: return .again(reason: "rejected", after: Self.pauseAfterRefusal)
        case .awaitingDocument, .manualReview, .error: return .again(reason: verdict.rawValue, after: nil)
        }
    }
}

extension JobOutcome {
    /// What an error of the provider means for a job that only asks.
    ///
    /// Reasons are codes: they stand in a table that people read.
    init(_ error: AnchorError) {
        switch error.remedy {
        case .refused(let code): self = .again(reason: "refused_\(code.rawValue)", after: .seconds(300))
        case .absent: self = .again(reason: "not_found_at_provider", after: nil)
        case .repeatLater(let reason, let pause): self = .again(reason: reason, after: pause)
        }
    }
}
