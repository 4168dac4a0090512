import Contracts
import Messaging
import Primitives

/// Event -> what account does.
enum AccountHandlers {
    /// The table.
    ///
    /// `forget` drops what is kept in memory of an erased user.
    static func make(
        accounts: AccountStore,
        forget: @escaping @Sendable (UserID) -> Void = { _ in }
    ) -> EventHandlers {
        var handlers = EventHandlers()
        handlers.on(CustomerCreated.self) { event, transaction in
            // The two events come from two services: whichever is second asks for the account.
            guard try await accounts.record(event, in: transaction) else { return }
            try await Self.run(AccountJob.openAccount, UserID(event.data.userID), in: transaction)
        }
        handlers.on(CustomerVerified.self) { event, transaction in
            try await accounts.record(event, in: transaction)
            try await Self.run(AccountJob.openAccount, UserID(event.data.userID), in: transaction)
        }
        handlers.on(ProviderAccountOpened.self) { event, transaction in
            // An account that is not known yet needs no hint: whoever writes its id asks for its number at once.
            let id = event.data.anchorAccountID
            guard let known = try await accounts.find(anchorAccountID: id, in: transaction), known.status == .pending
            else { return }
            try await Self.run(AccountJob.fetchAccount, known.user, in: transaction)
        }
        handlers.on(ProviderPaymentReceived.self) { event, transaction in
            try await transaction.requeue(
                AccountJob.readPayment,
                key: event.data.providerPaymentID,
                subject: event.data.anchorAccountID
            )
        }
        handlers.on(UserErased.self) { event, transaction in
            try await accounts.record(event, in: transaction)
            forget(UserID(event.data.userID))
        }
        return handlers
    }

    private static func run(_ kind: JobKind, _ user: UserID, in transaction: EventTransaction) async throws {
        try await transaction.requeue(kind, key: user.description, subject: user.description)
    }
}
