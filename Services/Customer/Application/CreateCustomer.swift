import AnchorClient
import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit

/// Job: makes the user a customer of the provider, once, whatever answer got lost.
///
/// The provider has no idempotency for customers, but allows one per e-mail address and echoes our metadata: so a lost
/// answer is found again by address, and what is found is ours only if it carries our user id.
///
/// It gets a person's own address once that is proven, and a stand-in until then or when it has a customer under that
/// address already: nobody is shut out by an address, and nobody learns whose it is. Who comes back after closing a profile
/// takes over the customer of then.
struct CreateCustomer: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore
    let openDetails: OpenDetails
    let provider: any CustomerProvider
    let calls: ProviderCalls
    let standIns: StandInAddress

    /// Runs the job; its key is the user id.
    func callAsFunction(_ job: Job) async throws -> JobOutcome {
        try await JobOutcome.of { try await self.run(job) }
    }

    private func run(_ job: Job) async throws -> JobOutcome {
        guard let id = UserID(text: job.key), let user = try await self.users.find(id, as: nil, on: self.database)
        else {
            return .again(reason: "user_unknown", after: nil)
        }
        // What is verified is not sent again.
        if user.anchorCustomerID != nil, user.verification == .known(.approved) { return .done }
        let forms = Form.all(try await self.openDetails(user), of: user, self.standIns)
        guard !forms.isEmpty else { return try await self.waitForDetails(job, user: user) }
        let takeOver = TakeOverCustomer(database: self.database, users: self.users)
        if let outcome = try await takeOver(user, cause: job.cause) { return outcome }
        do {
            if let known = user.anchorCustomerID {
                return try await self.update(known, forms, job, user: user)
            }
            return try await self.create(forms, job, user: user)
        } catch let error as AnchorError {
            guard let reason = RefuseDetails.Reason(error) else { throw error }
            return try await RefuseDetails(database: self.database, users: self.users)(reason, job, user: user)
        }
    }

    /// The provider compares a BVN with the record it has: corrected details have to be there first.
    private func update(_ known: String, _ forms: [Form], _ job: Job, user: CustomerUser) async throws -> JobOutcome {
        for (index, form) in forms.enumerated() {
            do {
                try await self.calls.call("update_customer", "customer:\(user.id)", of: job) {
                    try await form.replace(known, at: self.provider)
                }
                break
            } catch let error as AnchorError where error.saysVerified {
                // The verdict overtook the correction; its event is on the way.
                return .done
            } catch let error as AnchorError where error.saysAlreadyExists && index + 1 < forms.count {
                continue
            }
        }
        return try await self.finish(job, user: user, customerID: nil)
    }

    private func create(_ forms: [Form], _ job: Job, user: CustomerUser) async throws -> JobOutcome {
        if job.attempt > 1 {
            for form in forms {
                guard let found = try await self.find(form.email, user: user), found.isOurs else { continue }
                return try await self.finish(job, user: user, customerID: found.id)
            }
        }
        for form in forms {
            do {
                let created = try await self.calls.call("create_customer", "customer:\(user.id)", of: job) {
                    try await form.send(to: self.provider)
                }
                return try await self.finish(job, user: user, customerID: created.id)
            } catch let error as AnchorError where error.saysAlreadyExists {
                guard let found = try await self.find(form.email, user: user) else {
                    return .again(reason: "exists_but_not_found", after: nil)
                }
                guard !found.isOurs else { return try await self.finish(job, user: user, customerID: found.id) }
            }
        }
        // The last address is nobody else's.
        return .failed(reason: "stand_in_in_use")
    }

    /// The customer under an address, and whether an earlier attempt made it: somebody else's stays somebody else's.
    private func find(_ email: String, user: CustomerUser) async throws -> (id: String, isOurs: Bool)? {
        try await self.provider.findCustomer(email: email, deadline: nil).map { known in
            (id: known.id, isOurs: known.metadata[ProviderForms.userIDKey] == user.id.description)
        }
    }

    /// Nothing to do until the user says more: `user.details_provided` runs the job again.
    ///
    /// The job ends under the lock of the user's row, which that event's handler takes too: so either we see the new
    /// details here, or the handler sees a job that has ended and may be run again.
    func waitForDetails(_ job: Job, user: CustomerUser) async throws -> JobOutcome {
        try await self.database.transaction(cause: job.cause) { transaction in
            let now = try await self.users.lock(user.id, in: transaction)
            guard now?.authSequence == user.authSequence else { return .again(reason: "details_changed", after: .zero) }
            try await job.finish(in: transaction)
            return .done
        }
    }

    private func finish(_ job: Job, user: CustomerUser, customerID: String?) async throws -> JobOutcome {
        let id = user.id
        return try await self.database.transaction(cause: job.cause) { transaction in
            guard let locked = try await self.users.lock(id, in: transaction) else { return .done }
            if let customerID, locked.anchorCustomerID == nil {
                try await self.users.setCustomerID(customerID, of: id, in: transaction)
                let type = locked.accountType ?? Open(.personal)
                let event = CustomerCreated(userID: id.uuid, anchorCustomerID: customerID, accountType: type)
                try await transaction.publish(event, about: id)
            }
            // The event that brought newer details found this job running: it has to send them itself.
            guard locked.authSequence == user.authSequence else {
                return .again(reason: "details_changed", after: .zero)
            }
            try await job.finish(in: transaction)
            try await transaction.requeue(
                CustomerJob.startVerification,
                key: id.description,
                subject: id.description
            )
            return .done
        }
    }
}

/// The provider's form for a person or a business.
private enum Form {
    case individual(IndividualCustomer)
    case business(BusinessCustomer)

    private init?(_ details: CustomerDetails, email: String, of user: CustomerUser) {
        let form: Form?
        if user.accountType?.value == .merchant {
            form = ProviderForms.business(details, email: email, user: user.id).map(Form.business)
        } else {
            form = ProviderForms.individual(details, email: email, user: user.id).map(Form.individual)
        }
        guard let form else { return nil }
        self = form
    }

    /// The forms to try, one after the other: with the person's own address if it is proven, then with the stand-in; none
    /// while something is missing.
    static func all(_ details: CustomerDetails, of user: CustomerUser, _ standIns: StandInAddress) -> [Form] {
        let proven = user.isEmailVerified ? details.contact?.email : nil
        return [proven, standIns(user.id)].compactMap { $0.flatMap { Form(details, email: $0, of: user) } }
    }

    var email: String {
        switch self {
        case .individual(let person): person.email
        case .business(let business): business.contact.email
        }
    }

    func send(to provider: any CustomerProvider) async throws -> CustomerSnapshot {
        switch self {
        case .individual(let person): try await provider.createIndividualCustomer(person, deadline: nil)
        case .business(let business): try await provider.createBusinessCustomer(business, deadline: nil)
        }
    }

    /// Replaces what the provider has.
    func replace(_ id: String, at provider: any CustomerProvider) async throws {
        switch self {
        case .individual(let person): try await provider.updateIndividualCustomer(id: id, person, deadline: nil)
        case .business(let business): try await provider.updateBusinessCustomer(id: id, business, deadline: nil)
        }
    }
}
