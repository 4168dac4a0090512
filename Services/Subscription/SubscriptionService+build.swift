import Contracts
import Hummingbird
import Messaging
public import ServiceKit

extension ServiceDefinition {
    /// The subscription service.
    public static let subscription = ServiceDefinition(
        name: "subscription",
        needs: [.database, .broker, .redis, .clerk, .auth, .exports],
        keys: SubscriptionConfiguration.keys,
        schema: { try SubscriptionSchema.sets() },
        build: { try SubscriptionParts(host: $0).wired() }
    )
}

/// Every wire of the service.
struct SubscriptionParts {
    let host: ServiceHost
    let terms: Terms
    let subscriptions = SubscriptionStore()
    let charges = ChargeStore()
    let approvals = ApprovalStore()
    let usage = UsageStore()
    let profiles = ProfileStore()

    init(host: ServiceHost) throws {
        self.host = host
        self.terms = try SubscriptionConfiguration(host.settings.reader).terms
    }

    func wired() throws -> ServiceParts {
        let messaging = try self.host.messaging(as: .subscription) { _, _ in
            MessagingRuntime.Plan(handlers: self.handlers, schedules: self.schedules)
        }
        let internalRoutes = InternalController(
            database: messaging.work,
            clock: self.host.clock,
            subscriptions: self.subscriptions,
            adjustUsage: AdjustUsage(usage: self.usage),
            givePlan: GivePlan(subscriptions: self.subscriptions)
        )
        return ServiceParts(
            router: self.router(messaging.requests),
            messaging: messaging,
            queries: .subscription,
            exports: .subscription
        ) {
            internalRoutes.add(to: $0)
        }
    }

    private var handlers: EventHandlers {
        SubscriptionHandlers.make(
            subscriptions: self.subscriptions,
            usage: self.usage,
            approvals: self.approvals,
            profiles: self.profiles,
            unsubscribe: Unsubscribe(subscriptions: self.subscriptions),
            settle: SettleCharge(subscriptions: self.subscriptions, charges: self.charges, terms: self.terms)
        )
    }

    private var schedules: [Schedule] {
        SubscriptionSchedules.make(
            renew: RenewDue(
                subscriptions: self.subscriptions,
                askForCharge: AskForCharge(charges: self.charges),
                terms: self.terms
            ),
            lapse: LapseExpired(subscriptions: self.subscriptions),
            approvals: self.approvals
        )
    }

    private func router(_ requests: EventDatabase) -> Router<AppRequestContext> {
        let router = self.host.router()
        let profiles = self.profiles
        // Whoever has closed may still say that nothing more is to be paid.
        let gate = ProfileGate(ProfileGate.Routes(free: ["DELETE /subscriptions"])) {
            try await profiles.state(of: $0, on: requests)
        }
        let group = router.group().add(middleware: self.host.authentication()).add(middleware: gate)
        SubscriptionController(
            database: requests,
            clock: self.host.clock,
            approvals: self.host.approvals(),
            executor: self.host.idempotency(),
            prices: self.terms.prices,
            subscriptions: self.subscriptions,
            nonces: self.approvals,
            subscribe: Subscribe(
                subscriptions: self.subscriptions,
                askForCharge: AskForCharge(charges: self.charges),
                terms: self.terms
            ),
            unsubscribe: Unsubscribe(subscriptions: self.subscriptions)
        ).add(to: group)
        return router
    }
}
