import AnchorClient
import Contracts
import Messaging
import Primitives

/// Tells the user that the provider did not take the details, instead of leaving a job that failed in silence.
struct RefuseDetails: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore

    /// Why the provider did not take them.
    enum Reason: String, Sendable {
        case phoneInvalid = "phone_invalid"
        case detailsRefused = "details_refused"

        /// Nil for errors that other details would not mend.
        init?(_ error: AnchorError) {
            guard case .refused(let status, _, let code) = error else { return nil }
            switch code {
            case .invalidPhoneNumber: self = .phoneInvalid
            case .other where status == 400 || status == 422: self = .detailsRefused
            case .alreadyExists, .verificationRequired, .productNotAllowed, .insufficientFunds, .duplicateReference,
                .invalidReason,
                .doubtful, .conflict, .precondition, .other:
                return nil
            }
        }
    }

    /// Ends the job, under the lock that the handler of new details takes too: they run it again.
    func callAsFunction(_ reason: Reason, _ job: Job, user: CustomerUser) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            let now = try await self.users.lock(user.id, in: transaction)
            guard now?.authSequence == user.authSequence else { return .again(reason: "details_changed", after: .zero) }
            try await job.finish(in: transaction)
            let event = CustomerDetailsRefused(
                userID: user.id.uuid,
                reason: reason.rawValue,
                detailsSequence: user.authSequence
            )
            try await transaction.publish(event, about: user.id)
            return .done
        }
    }
}
