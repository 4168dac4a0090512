import Contracts
import Messaging
import Primitives
import ServiceKit

/// Event -> what transaction does: keep the read model, or ask for work.
enum TransactionHandlers {
    /// The table.
    ///
    /// `forget` drops what is kept in memory of an erased user.
    static func make(_ model: ReadModelStore, forget: @escaping @Sendable (UserID) -> Void = { _ in }) -> EventHandlers
    {
        var handlers = EventHandlers()
        handlers.before { try await model.lock($0, $1) }
        Self.addUsers(to: &handlers, model)
        Self.addPlans(to: &handlers, model)
        handlers.on(UserErased.self) { event, transaction in
            try await model.erased(event, transaction)
            forget(UserID(event.data.userID))
        }
        Self.addBeneficiariesAndDevices(to: &handlers, model)
        Self.addHeartbeats(to: &handlers, model)
        Self.addMoney(to: &handlers, model)
        return handlers
    }

    private static func addUsers(to handlers: inout EventHandlers, _ model: ReadModelStore) {
        handlers.on(UserCreated.self) { try await model.created($0, $1) }
        handlers.on(UserErasureDue.self) { try await model.erasureDue($0, $1) }
        handlers.on(UserSettingsChanged.self) { try await model.settingsChanged($0, $1) }
        handlers.on(UserRestricted.self) { try await model.restricted($0, $1) }
        handlers.on(UserBlockChanged.self) { try await model.blockChanged($0, $1) }
        handlers.on(UserTierChanged.self) { try await model.tierChanged($0, $1) }
        handlers.on(CustomerVerified.self) { try await model.verified($0, $1) }
        handlers.on(AccountOpened.self) { try await model.opened($0, $1) }
    }

    private static func addPlans(to handlers: inout EventHandlers, _ model: ReadModelStore) {
        handlers.on(SubscriptionActivated.self) { event, transaction in
            let end = event.data.graceUntil ?? event.data.activeUntil
            try await model.plan(of: event.data.userID, until: end, event.attributes.sequence, transaction)
        }
        handlers.on(SubscriptionRenewed.self) { event, transaction in
            let end = event.data.graceUntil ?? event.data.activeUntil
            try await model.plan(of: event.data.userID, until: end, event.attributes.sequence, transaction)
        }
        handlers.on(SubscriptionCancelled.self) { event, transaction in
            let end = event.data.activeUntil
            try await model.plan(of: event.data.userID, until: end, event.attributes.sequence, transaction)
        }
        handlers.on(SubscriptionLapsed.self) { event, transaction in
            try await model.plan(of: event.data.userID, until: nil, event.attributes.sequence, transaction)
        }
    }

    private static func addBeneficiariesAndDevices(to handlers: inout EventHandlers, _ model: ReadModelStore) {
        handlers.on(BeneficiaryAdded.self) { try await model.added($0, $1) }
        handlers.on(BeneficiaryRemoved.self) { try await model.removed($0, $1) }
        handlers.on(BeneficiaryDefaulted.self) { try await model.defaulted($0, $1) }
        handlers.on(DeviceRegistered.self) { try await model.registered($0, $1) }
        handlers.on(DeviceRevoked.self) { try await model.revoked($0, $1) }
        ApprovalFactStore().hear(in: &handlers)
        handlers.on(PINSet.self) { try await model.pinSet($0, $1) }
        handlers.on(PINReset.self) { try await model.pinReset($0, $1) }
    }

    private static func addHeartbeats(to handlers: inout EventHandlers, _ model: ReadModelStore) {
        handlers.on(AuthHeartbeat.self) { try await model.beat(.auth, at: $0.data.at, $1) }
        handlers.on(CustomerHeartbeat.self) { try await model.beat(.customer, at: $0.data.at, $1) }
        handlers.on(SubscriptionHeartbeat.self) { try await model.beat(.subscription, at: $0.data.at, $1) }
    }

    /// Money is moved by jobs, in batches that lock in one order, and not here among other writes.
    private static func addMoney(to handlers: inout EventHandlers, _ model: ReadModelStore) {
        handlers.on(UsageAdjusted.self) { try await model.adjustSlots($0, $1) }
        handlers.on(SubscriptionChargeRequested.self) { event, transaction in
            let data = event.data
            let order = ChargeOrder(
                user: data.userID,
                reference: data.reference,
                attempt: data.attempt,
                amount: data.amount,
                correlation: event.attributes.correlationid,
                traceparent: event.attributes.traceparent
            )
            try await model.ensure(data.userID, transaction)
            try await transaction.enqueue(
                TransactionJob.charge,
                key: "\(data.reference)#\(data.attempt)",
                subject: data.userID.lowercased,
                payload: order
            )
        }
        handlers.on(ProviderTransferUpdated.self) { event, transaction in
            guard TransferVerdict(event.data) != nil else { return }
            try await transaction.enqueue(
                TransactionJob.fact,
                key: event.data.providerEventID,
                subject: event.data.reference ?? event.data.anchorTransferID,
                payload: event.data
            )
        }
        handlers.on(PaymentUnmatched.self) { event, transaction in
            let credit = WalletCredit(
                providerPaymentID: event.data.providerPaymentID,
                account: event.data.anchorAccountID,
                amount: event.data.amount,
                correlation: event.attributes.correlationid,
                isUnmatched: true
            )
            try await transaction.enqueue(
                TransactionJob.credit,
                key: credit.providerPaymentID,
                subject: credit.account,
                payload: credit
            )
        }
        handlers.on(WalletCredited.self) { event, transaction in
            let credit = WalletCredit(
                providerPaymentID: event.data.providerPaymentID,
                account: event.data.anchorAccountID,
                amount: event.data.amount,
                reference: event.data.reference,
                correlation: event.attributes.correlationid
            )
            try await transaction.enqueue(
                TransactionJob.credit,
                key: credit.providerPaymentID,
                subject: event.data.userID.lowercased,
                payload: credit
            )
        }
    }
}
