import Contracts
import Messaging
import Primitives

/// Gives the provider's customer of a closed profile to the same person, who has signed up again.
///
/// That it is the same person is auth's word (`succeeds`): every detail of the identity, and an address or number that was
/// verified then and now. What the provider has verified about the customer stays; notification asks it.
struct TakeOverCustomer: Sendable {
    let database: EventDatabase
    let users: CustomerUserStore

    /// Takes it over and lets the job run again; nil when there is none to take over.
    func callAsFunction(_ user: CustomerUser, cause: Cause) async throws -> JobOutcome? {
        guard user.anchorCustomerID == nil, let former = user.formerSelf, former != user.id else { return nil }
        return try await self.database.transaction(cause: cause) { transaction in
            // In one order, whoever comes back as whom.
            var locked: [UserID: CustomerUser] = [:]
            for id in [former, user.id].sorted(by: { $0.description < $1.description }) {
                locked[id] = try await self.users.lock(id, in: transaction)
            }
            guard let old = locked[former], let customerID = old.anchorCustomerID, let new = locked[user.id],
                new.anchorCustomerID == nil
            else { return nil }
            // Auth has closed it: the news is on the way.
            guard old.isErased || old.restriction == .known(.closed) else {
                return .again(reason: "former_self_not_closed", after: nil)
            }
            try await self.users.takeCustomer(customerID, from: former, to: user.id, in: transaction)
            let event = CustomerCreated(
                userID: user.id.uuid,
                anchorCustomerID: customerID,
                accountType: new.accountType ?? Open(.personal),
                succeeds: former.uuid
            )
            try await transaction.publish(event, about: user.id)
            return .again(reason: "taken_over", after: .zero)
        }
    }
}
