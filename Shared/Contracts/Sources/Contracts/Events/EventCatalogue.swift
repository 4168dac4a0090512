/// What an event's `subject` names.
public enum SubjectKind: String, Sendable {
    /// A user id.
    case user
    /// A transaction id.
    case transaction
    /// A money drop's id.
    case moneyDrop
    /// A payment request's id.
    case paymentRequest
    /// The id of a reported problem.
    case dispute
    /// The reference of a subscription's charge.
    case charge
    /// An id the provider made, or our reference.
    case provider
    /// The publishing service.
    case service
}

/// One kind of event: who publishes it, about what, and who listens.
public struct EventDefinition: Sendable {
    /// The kind.
    public let type: EventType
    /// The major version published now.
    public let majorVersion: Int
    /// The type of its data.
    public let payload: any EventData.Type
    /// Who publishes it.
    public let source: ServiceName
    /// What the subject names.
    public let subject: SubjectKind
    /// Who listens.
    public let consumers: [ServiceName]
    /// Who listened in an earlier version: their queues lose the binding.
    public let formerConsumers: [ServiceName]

    init<Data: EventData>(
        _ data: Data.Type,
        from source: ServiceName,
        about subject: SubjectKind,
        to consumers: ServiceName...,
        formerly formerConsumers: [ServiceName] = []
    ) {
        precondition(formerConsumers.allSatisfy { !consumers.contains($0) }, "\(data.type): listens and listened")
        self.type = data.type
        self.majorVersion = data.majorVersion
        self.payload = data
        self.source = source
        self.subject = subject
        self.consumers = consumers
        self.formerConsumers = formerConsumers
    }
}

/// The table of all events.
///
/// Queues and bindings are declared from it, and documents are generated from it.
public enum EventCatalogue {
    /// Every kind of event there is.
    public static let all: [EventDefinition] = [
        EventDefinition(
            UserCreated.self,
            from: .auth,
            about: .user,
            to: .customer,
            .transaction,
            .subscription,
            .notification,
            .analytics
        ),
        EventDefinition(UserDetailsProvided.self, from: .auth, about: .user, to: .customer, .notification),
        EventDefinition(
            UserErased.self,
            from: .auth,
            about: .user,
            to: .customer,
            .account,
            .transaction,
            .subscription,
            .notification,
            .analytics
        ),
        EventDefinition(UserClosed.self, from: .auth, about: .user, to: .customer, .transaction, .subscription),
        EventDefinition(UserErasureDue.self, from: .auth, about: .user, to: .transaction),
        EventDefinition(UserErasureCleared.self, from: .transaction, about: .user, to: .auth),
        EventDefinition(
            DeviceRegistered.self,
            from: .auth,
            about: .user,
            to: .transaction,
            .subscription,
            .notification
        ),
        EventDefinition(DeviceRevoked.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(PINSet.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(PINReset.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(PINChanged.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(PINLocked.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(SessionEnded.self, from: .auth, about: .user, to: .transaction, .subscription, .notification),
        EventDefinition(AuthHeartbeat.self, from: .auth, about: .service, to: .transaction),
        EventDefinition(CustomerCreated.self, from: .customer, about: .user, to: .notification, .account),
        EventDefinition(CustomerDetailsRefused.self, from: .customer, about: .user, to: .auth, .notification),
        EventDefinition(UserSettingsChanged.self, from: .customer, about: .user, to: .transaction),
        EventDefinition(
            UserRestricted.self,
            from: .customer,
            about: .user,
            to: .auth,
            .transaction,
            .subscription,
            .notification
        ),
        EventDefinition(UserBlockChanged.self, from: .customer, about: .user, to: .transaction),
        EventDefinition(UserTierChanged.self, from: .customer, about: .user, to: .transaction, .notification),
        EventDefinition(UserExportReady.self, from: .customer, about: .user, to: .notification),
        EventDefinition(BeneficiaryAdded.self, from: .customer, about: .user, to: .transaction, .notification),
        EventDefinition(BeneficiaryRemoved.self, from: .customer, about: .user, to: .transaction, .notification),
        EventDefinition(BeneficiaryDefaulted.self, from: .customer, about: .user, to: .transaction),
        EventDefinition(CustomerHeartbeat.self, from: .customer, about: .service, to: .transaction),
        EventDefinition(AccountOpened.self, from: .account, about: .user, to: .transaction, .notification),
        // Whether the money is in the wallet is said by `transaction.completed`, which notification tells of.
        EventDefinition(
            WalletCredited.self,
            from: .account,
            about: .user,
            to: .transaction,
            formerly: [.notification]
        ),
        EventDefinition(PaymentUnmatched.self, from: .account, about: .provider, to: .transaction),
        EventDefinition(
            TransactionCreated.self,
            from: .transaction,
            about: .transaction,
            formerly: [.customer]
        ),
        EventDefinition(
            TransactionCompleted.self,
            from: .transaction,
            about: .transaction,
            to: .analytics,
            .notification,
            .customer
        ),
        EventDefinition(
            TransactionFailed.self,
            from: .transaction,
            about: .transaction,
            to: .notification,
            formerly: [.customer]
        ),
        EventDefinition(
            TransactionReversed.self,
            from: .transaction,
            about: .transaction,
            to: .analytics,
            .notification,
            .customer
        ),
        EventDefinition(TransferReroutedInternal.self, from: .transaction, about: .transaction, to: .notification),
        EventDefinition(MoneyDropOpened.self, from: .transaction, about: .moneyDrop, to: .notification),
        EventDefinition(
            MoneyDropClaimed.self,
            from: .transaction,
            about: .moneyDrop,
            to: .notification,
            .analytics
        ),
        EventDefinition(MoneyDropEnded.self, from: .transaction, about: .moneyDrop, to: .notification),
        EventDefinition(MoneyDropRefunded.self, from: .transaction, about: .moneyDrop),
        EventDefinition(PaymentRequestCreated.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(PaymentRequestFulfilled.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(PaymentRequestReopened.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(PaymentRequestDeclined.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(PaymentRequestCancelled.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(PaymentRequestExpired.self, from: .transaction, about: .paymentRequest, to: .notification),
        EventDefinition(DisputeOpened.self, from: .transaction, about: .dispute, to: .notification),
        EventDefinition(DisputeAnswered.self, from: .transaction, about: .dispute, to: .notification),
        EventDefinition(DisputeClosed.self, from: .transaction, about: .dispute, to: .notification),
        EventDefinition(ExternalSlotTaken.self, from: .transaction, about: .user, to: .subscription),
        EventDefinition(ExternalSlotReleased.self, from: .transaction, about: .user, to: .subscription),
        EventDefinition(SubscriptionChargePaid.self, from: .transaction, about: .charge, to: .subscription),
        EventDefinition(SubscriptionChargeRefused.self, from: .transaction, about: .charge, to: .subscription),
        EventDefinition(SubscriptionChargeRequested.self, from: .subscription, about: .user, to: .transaction),
        EventDefinition(
            SubscriptionActivated.self,
            from: .subscription,
            about: .user,
            to: .transaction,
            .customer,
            .notification
        ),
        EventDefinition(
            SubscriptionRenewed.self,
            from: .subscription,
            about: .user,
            to: .transaction,
            .customer,
            .notification
        ),
        EventDefinition(
            SubscriptionCancelled.self,
            from: .subscription,
            about: .user,
            to: .transaction,
            .customer,
            .notification
        ),
        EventDefinition(SubscriptionPaymentFailed.self, from: .subscription, about: .user, to: .notification),
        EventDefinition(
            SubscriptionLapsed.self,
            from: .subscription,
            about: .user,
            to: .transaction,
            .customer,
            .notification
        ),
        EventDefinition(UsageAdjusted.self, from: .subscription, about: .user, to: .transaction),
        EventDefinition(SubscriptionHeartbeat.self, from: .subscription, about: .service, to: .transaction),
        EventDefinition(
            CustomerVerified.self,
            from: .notification,
            about: .user,
            to: .account,
            .customer,
            .transaction,
            .auth
        ),
        EventDefinition(CustomerRejected.self, from: .notification, about: .user, to: .customer, .auth),
        EventDefinition(ProviderAccountOpened.self, from: .notification, about: .provider, to: .account),
        EventDefinition(ProviderTransferUpdated.self, from: .notification, about: .provider, to: .transaction),
        EventDefinition(ProviderPaymentReceived.self, from: .notification, about: .provider, to: .account),
    ]

    private static let byType = Dictionary(uniqueKeysWithValues: EventCatalogue.all.map { ($0.type, $0) })

    /// The definition of a kind of event; nil when this version does not know it.
    public static func definition(of type: EventType) -> EventDefinition? { self.byType[type] }

    /// Whether an event of a kind is this publisher's to say; of a kind that this version does not know, it is anybody's.
    public static func isPublisher(_ source: String, of type: EventType) -> Bool {
        self.byType[type].map { $0.source.rawValue == source } ?? true
    }

    /// What a service publishes.
    public static func types(publishedBy service: ServiceName) -> [EventType] {
        self.all.filter { $0.source == service }.map(\.type)
    }

    /// What a service no longer listens to.
    public static func types(formerlyConsumedBy service: ServiceName) -> [EventType] {
        self.all.filter { $0.formerConsumers.contains(service) }.map(\.type)
    }

    /// What a service listens to.
    public static func types(consumedBy service: ServiceName) -> [EventType] {
        self.all.filter { $0.consumers.contains(service) }.map(\.type)
    }
}
