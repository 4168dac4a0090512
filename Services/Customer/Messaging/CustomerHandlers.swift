import Contracts
import Messaging
import Primitives

/// Event -> what customer does.
enum CustomerHandlers {
    /// The table.
    static func make(users: CustomerUserStore) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(UserCreated.self) { event, transaction in
            try await users.record(event, in: transaction)
            // Without them the provider's form cannot be filled in; `user.details_provided` will bring them.
            guard event.data.contactDetails != nil else { return }
            try await Self.createCustomer(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserDetailsProvided.self) { event, transaction in
            try await users.record(event, in: transaction)
            try await Self.createCustomer(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserErased.self) { event, transaction in try await users.record(event, in: transaction) }
        handlers.on(CustomerVerified.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                Open(.approved),
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        handlers.on(CustomerRejected.self) { event, transaction in
            try await users.setVerification(
                UserID(event.data.userID),
                event.data.status,
                sequence: event.attributes.sequence,
                in: transaction
            )
        }
        return handlers
    }

    private static func createCustomer(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.requeue(CustomerJob.createCustomer, key: user.description, subject: user.description)
    }
}
