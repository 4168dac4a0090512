import Contracts
import Messaging
import Primitives

/// Event -> what customer does.
enum CustomerHandlers {
    /// The table.
    ///
    /// `forget` drops what is kept in memory of an erased user.
    static func make(
        users: CustomerUserStore,
        forget: @escaping @Sendable (UserID) -> Void = { _ in }
    ) -> EventHandlers {
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
        handlers.on(UserErased.self) { event, transaction in
            try await users.record(event, in: transaction)
            forget(UserID(event.data.userID))
        }
        handlers.on(UserClosed.self) { event, transaction in
            // Known already: `user.created` came before from the same source.
            let order = try RestrictionOrder(restriction: Restriction.closed.rawValue, reason: "profile_closed")
            try await RestrictUser(users: users)(order, user: UserID(event.data.userID), in: transaction)
        }
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
        Self.addPlans(to: &handlers, users)
        return handlers
    }

    private static func addPlans(to handlers: inout EventHandlers, _ users: CustomerUserStore) {
        handlers.on(SubscriptionActivated.self) { event, transaction in
            let (data, sequence) = (event.data, event.attributes.sequence)
            let end = data.graceUntil ?? data.activeUntil
            try await users.setPlan(UserID(data.userID), until: end, sequence: sequence, in: transaction)
        }
        handlers.on(SubscriptionRenewed.self) { event, transaction in
            let (data, sequence) = (event.data, event.attributes.sequence)
            let end = data.graceUntil ?? data.activeUntil
            try await users.setPlan(UserID(data.userID), until: end, sequence: sequence, in: transaction)
        }
        handlers.on(SubscriptionCancelled.self) { event, transaction in
            let (data, sequence) = (event.data, event.attributes.sequence)
            try await users.setPlan(UserID(data.userID), until: data.activeUntil, sequence: sequence, in: transaction)
        }
        handlers.on(SubscriptionLapsed.self) { event, transaction in
            let (data, sequence) = (event.data, event.attributes.sequence)
            try await users.setPlan(UserID(data.userID), until: nil, sequence: sequence, in: transaction)
        }
    }

    private static func createCustomer(_ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.requeue(CustomerJob.createCustomer, key: user.description, subject: user.description)
    }
}
