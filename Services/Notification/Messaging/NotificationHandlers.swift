import Contracts
import Messaging
import Primitives

/// Event -> what notification does.
enum NotificationHandlers {
    /// The table.
    static func make(telling notices: FileNotices) -> EventHandlers {
        let learnCustomer = LearnCustomer(customers: CustomerStore(), webhooks: WebhookStore())
        let inbox = notices.inbox
        let pushes = PushStore()
        var handlers = EventHandlers()
        handlers.on(CustomerCreated.self) { event, transaction in
            try await learnCustomer(event.data, in: transaction)
        }
        handlers.on(UserDetailsProvided.self) { event, transaction in
            try await learnCustomer.customers.expectVerdict(UserID(event.data.userID), in: transaction)
        }
        handlers.on(UserCreated.self) { event, transaction in try await inbox.record(event, in: transaction) }
        handlers.on(UserErased.self) { event, transaction in
            try await inbox.record(event, in: transaction)
            try await pushes.removeAll(of: event.data.userID, in: transaction)
        }
        Self.addAccess(to: &handlers, telling: notices)
        let writer = NoticeWriter(file: notices)
        writer.on(AccountOpened.self, in: &handlers) { [.walletReady($0)] }
        writer.on(PINSet.self, in: &handlers) { [.pinSet($0)] }
        writer.on(PINLocked.self, in: &handlers) { [.pinLocked($0)] }
        writer.on(PINReset.self, in: &handlers) { [.pinReset($0)] }
        writer.on(PINChanged.self, in: &handlers) { [.pinChanged($0)] }
        writer.on(CustomerDetailsRefused.self, in: &handlers) { [.detailsRefused($0)] }
        writer.on(BeneficiaryAdded.self, in: &handlers) { [.beneficiaryAdded($0)] }
        writer.on(BeneficiaryRemoved.self, in: &handlers) { [.beneficiaryRemoved($0)] }
        writer.on(UserTierChanged.self, in: &handlers) { [.tierChanged($0)] }
        writer.on(UserExportReady.self, in: &handlers) { [.exportReady($0)] }
        writer.on(TransactionCompleted.self, in: &handlers) { Notice.completed($0) }
        writer.on(TransactionFailed.self, in: &handlers) { data in Notice.failed(data).map { [$0] } ?? [] }
        writer.on(TransactionReversed.self, in: &handlers) { Notice.reversed($0) }
        writer.on(TransferReroutedInternal.self, in: &handlers) { [.rerouted($0)] }
        Self.addProducts(to: &handlers, writer)
        writer.on(SubscriptionActivated.self, in: &handlers) { [.activated($0)] }
        writer.on(SubscriptionRenewed.self, in: &handlers) { [.renewed($0)] }
        writer.on(SubscriptionCancelled.self, in: &handlers) { [.cancelled($0)] }
        writer.on(SubscriptionPaymentFailed.self, in: &handlers) { [.notPaid($0)] }
        writer.on(SubscriptionLapsed.self, in: &handlers) { [.lapsed($0)] }
        return handlers
    }

    /// Devices, sessions and closings: they decide about pushes and streams, too.
    private static func addAccess(to handlers: inout EventHandlers, telling notices: FileNotices) {
        let access = AccessStore()
        let pushes = PushStore()
        handlers.on(DeviceRegistered.self) { event, transaction in
            try await access.registered(event.data.deviceID, of: event.data.userID, in: transaction)
            try await notices([.deviceRegistered(event.data)], about: event.attributes.id, in: transaction)
        }
        handlers.on(DeviceRevoked.self) { event, transaction in
            // First: a phone that was taken away is not told of it.
            try await access.revoked(event.data.deviceID, of: event.data.userID, in: transaction)
            try await pushes.remove(device: event.data.deviceID, of: event.data.userID, in: transaction)
            try await notices([.deviceRevoked(event.data)], about: event.attributes.id, in: transaction)
        }
        handlers.on(SessionEnded.self) { event, transaction in
            try await access.ended(event.data.sessionID, of: event.data.userID, in: transaction)
            try await pushes.remove(session: event.data.sessionID, of: event.data.userID, in: transaction)
        }
        handlers.on(UserRestricted.self) { event, transaction in
            if event.data.restriction == .known(.closed) {
                try await access.closed(event.data.userID, in: transaction)
            }
            try await notices([.restricted(event.data)], about: event.attributes.id, in: transaction)
        }
    }

    private static func addProducts(to handlers: inout EventHandlers, _ writer: NoticeWriter) {
        writer.on(DisputeOpened.self, in: &handlers) { [.opened($0)] }
        writer.on(DisputeAnswered.self, in: &handlers) { [.answered($0)] }
        writer.on(DisputeClosed.self, in: &handlers) { [.closed($0)] }
        writer.on(MoneyDropOpened.self, in: &handlers) { [.opened($0)] }
        writer.on(MoneyDropClaimed.self, in: &handlers) { [.claimed($0)] }
        writer.on(MoneyDropEnded.self, in: &handlers) { [.ended($0)] }
        writer.on(PaymentRequestCreated.self, in: &handlers) { data in Notice.asked(data).map { [$0] } ?? [] }
        writer.on(PaymentRequestFulfilled.self, in: &handlers) { [.fulfilled($0)] }
        writer.on(PaymentRequestReopened.self, in: &handlers) { [.reopened($0)] }
        writer.on(PaymentRequestDeclined.self, in: &handlers) { [.declined($0)] }
        writer.on(PaymentRequestCancelled.self, in: &handlers) { data in Notice.cancelled(data).map { [$0] } ?? [] }
        writer.on(PaymentRequestExpired.self, in: &handlers) { [.expired($0)] }
    }
}

/// Registers handlers that only tell people something.
private struct NoticeWriter: Sendable {
    let file: FileNotices

    func on<Payload: EventData>(
        _ type: Payload.Type,
        in handlers: inout EventHandlers,
        _ notices: @escaping @Sendable (Payload) -> [Notice]
    ) {
        let file = self.file
        handlers.on(type) { event, transaction in
            try await file(notices(event.data), about: event.attributes.id, in: transaction)
        }
    }
}
