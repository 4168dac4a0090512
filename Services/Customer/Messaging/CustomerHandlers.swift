import Contracts
import Messaging
import ObjectStorage
import Primitives

/// Event -> what customer does.
enum CustomerHandlers {
    /// The table.
    ///
    /// `forget` drops what is kept in memory of an erased user.
    static func make(
        users: CustomerUserStore,
        images: ImageStore,
        transfers: TransferStore,
        documents: DocumentStore,
        exports: ExportStore,
        forget: @escaping @Sendable (UserID) -> Void = { _ in }
    ) -> EventHandlers {
        var handlers = EventHandlers()
        Self.addPeople(to: &handlers, users)
        Self.addEnds(to: &handlers, users, images, documents, exports, forget)
        Self.addVerdicts(to: &handlers, users)
        Self.addPlans(to: &handlers, users)
        Self.addTransfers(to: &handlers, transfers)
        return handlers
    }

    private static func addPeople(
        to handlers: inout EventHandlers,
        _ users: CustomerUserStore
    ) {
        handlers.on(UserCreated.self) { event, transaction in
            try await users.record(event, in: transaction)
            // Without them the provider's form cannot be filled in; `user.details_provided` will bring them.
            guard event.data.contactDetails != nil else { return }
            try await Self.createCustomer(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserDetailsProvided.self) { event, transaction in
            try await users.record(event, in: transaction)
            let user = UserID(event.data.userID)
            try await Self.createCustomer(user, in: transaction)
            try await transaction.requeue(
                CustomerJob.compareNames,
                key: user.description,
                subject: user.description
            )
        }
    }

    private static func addEnds(
        to handlers: inout EventHandlers,
        _ users: CustomerUserStore,
        _ images: ImageStore,
        _ documents: DocumentStore,
        _ exports: ExportStore,
        _ forget: @escaping @Sendable (UserID) -> Void
    ) {
        handlers.on(UserErased.self) { event, transaction in
            let user = UserID(event.data.userID)
            try await users.record(event, in: transaction)
            try await documents.delete(of: user, in: transaction)
            try await exports.delete(of: user, in: transaction)
            forget(user)
            for image in try await images.all(of: user, in: transaction) {
                try await transaction.requeue(
                    CustomerJob.discardImage,
                    key: image.key.text,
                    subject: user.description
                )
            }
        }
        handlers.on(UserClosed.self) { event, transaction in
            let user = UserID(event.data.userID)
            let order = try RestrictionOrder(restriction: Restriction.closed.rawValue, reason: "profile_closed")
            // Parked for its own `user.created`, it would keep that waiting behind it.
            try await users.ensure(user, in: transaction)
            try await RestrictUser(users: users)(order, user: user, by: nil, in: transaction)
        }
    }

    private static func addVerdicts(to handlers: inout EventHandlers, _ users: CustomerUserStore) {
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
            guard event.data.status == .known(.awaitingDocument) else { return }
            let user = UserID(event.data.userID).description
            try await transaction.requeue(CustomerJob.listDocuments, key: user, subject: user)
        }
    }

    /// What profiles show of payments between two people.
    private static func addTransfers(to handlers: inout EventHandlers, _ transfers: TransferStore) {
        handlers.on(TransactionCompleted.self) { event, transaction in
            if event.data.type == .known(.p2p), let payment = event.data.releases {
                try await transfers.release(payment, in: transaction)
            }
            try await Self.record(event.attributes, transfers, transaction) { () throws(MomentUnreadable) in
                try Transfer(event.data)
            }
        }
        handlers.on(TransactionReversed.self) { event, transaction in
            try await Self.record(event.attributes, transfers, transaction) { () throws(MomentUnreadable) in
                try Transfer(event.data)
            }
        }
    }

    private static func record(
        _ attributes: EventAttributes,
        _ transfers: TransferStore,
        _ transaction: EventTransaction,
        _ read: () throws(MomentUnreadable) -> Transfer?
    ) async throws {
        let transfer: Transfer?
        do {
            transfer = try read()
        } catch {
            throw EventProblem.undecodableData
        }
        guard let transfer else { return }
        try await transfers.record(transfer, sequence: attributes.sequence, in: transaction)
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
