import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport

@testable import SubscriptionService

/// Subscription on a database of its own, without HTTP and broker.
struct SubscriptionWorld: ServiceWorld {
    let service: ServiceDatabase

    let subscriptions = SubscriptionStore()
    let usage = UsageStore()

    /// 1,500 naira a month, three days of grace, a try every twelve hours.
    static let terms = Terms(
        prices: (try? PriceList(entries: ["plus:2020-01-01:150000", "gold:2020-01-01:500000"])) ?? fallback,
        grace: .seconds(3 * 86_400),
        retryPause: .seconds(12 * 3600)
    )
    private static var fallback: PriceList { preconditionFailure("the entries above are a price list") }

    /// The month in which the tests run.
    var month: UsageMonth { UsageMonth(at: self.clock.now) }

    var handlers: EventHandlers { Self.handlers }

    static var handlers: EventHandlers {
        SubscriptionHandlers.make(
            subscriptions: SubscriptionStore(),
            usage: UsageStore(),
            approvals: ApprovalStore(),
            profiles: ProfileStore(),
            unsubscribe: Unsubscribe(subscriptions: SubscriptionStore()),
            settle: SettleCharge(subscriptions: SubscriptionStore(), charges: ChargeStore(), terms: Self.terms)
        )
    }

    /// What Ada sees.
    func status() async throws -> SubscriptionStatus {
        let now = self.clock.now
        let found = try await self.subscriptions.view(self.ada, in: self.month, as: self.ada, on: self.requests)
        return found.status(at: now)
    }

    /// Gives Ada a plan for a time.
    func give(_ plan: String = "plus", until: Date) async throws {
        let gift = try PlanGift(plan: plan, until: Timestamp.text(until), now: self.clock.now)
        try await self.work.transaction(cause: Cause()) { transaction in
            try await GivePlan(subscriptions: self.subscriptions)(gift, to: self.ada, by: .grace, in: transaction)
        }
    }

    // MARK: Buying

    private var ask: AskForCharge { AskForCharge(charges: ChargeStore()) }

    /// Ada has signed up.
    func joins() async throws {
        try await self.hear(UserCreated(userID: self.ada.uuid, username: "ada", accountType: Open(.personal)))
    }

    /// Ada orders a plan; whether a charge is under way.
    @discardableResult
    func subscribe(_ plan: String = "plus", price: Int64? = nil) async throws -> Bool {
        let order = try PlanRequest(checking: SubscriptionRequest(plan: plan, price: price))
        let subscribe = Subscribe(subscriptions: self.subscriptions, askForCharge: self.ask, terms: Self.terms)
        return try await self.asUser(self.ada) { try await subscribe(order, user: self.ada, in: $0) }
    }

    /// Ada wants no further period.
    func unsubscribe() async throws {
        try await self.asUser(self.ada) { transaction in
            try await Unsubscribe(subscriptions: self.subscriptions)(self.ada, in: transaction)
        }
    }

    /// The clock says that a renewal may be due.
    func renew() async throws {
        let renew = RenewDue(subscriptions: self.subscriptions, askForCharge: self.ask, terms: Self.terms)
        try await self.work.transaction(cause: Cause()) { try await renew(in: $0) }
    }

    /// The charges that were asked for, in order.
    func asked() async throws -> [SubscriptionChargeRequested] { try await self.said(SubscriptionChargeRequested.self) }

    /// `transaction` took the price of the last charge, now.
    func pay(id: UUID? = nil) async throws {
        guard let asked = try await self.asked().last else { throw TestFailure("no charge was asked for") }
        try await self.hear(
            SubscriptionChargePaid(
                userID: asked.userID,
                reference: asked.reference,
                attempt: asked.attempt,
                amount: asked.amount,
                transactionID: self.ids.next(),
                timestamp: Timestamp.text(self.clock.now)
            ),
            id: id
        )
    }

    /// `transaction` could not take the price of the last charge.
    func refuse(_ reason: String = "insufficient_funds") async throws {
        guard let asked = try await self.asked().last else { throw TestFailure("no charge was asked for") }
        try await self.hear(
            SubscriptionChargeRefused(
                userID: asked.userID,
                reference: asked.reference,
                attempt: asked.attempt,
                amount: asked.amount,
                reason: reason,
                timestamp: Timestamp.text(self.clock.now)
            )
        )
    }

    /// The kinds of events about plans, without the heartbeat.
    func told() async throws -> [String] {
        try await self.said().compactMap { $0.hasPrefix("subscription.") ? String($0.dropFirst(13)) : nil }
    }

    // MARK: Time

    /// Moves the clock to a moment; renewals and lapses that are due then happen.
    func goes(to moment: Date) async throws {
        let day = LagosCalendar.day(of: moment)
        try await self.database.psql("CALL ensure_partitions('\(day.adding(days: -1))', '\(day.adding(days: 1))')")
        self.clock.advance(by: .milliseconds(Int64(moment.timeIntervalSince(self.clock.now) * 1000) + 5))
        try await self.renew()
        try await self.lapse()
    }

    /// Moves the clock to the next morning in Lagos, for what must happen on one day.
    func goesToMorning() async throws {
        let tomorrow = LagosCalendar.day(of: self.clock.now).adding(days: 1)
        try await self.goes(to: LagosCalendar.start(of: tomorrow).addingTimeInterval(9 * 3600))
    }

    /// Ends plans whose time is over.
    func lapse() async throws {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await LapseExpired(subscriptions: self.subscriptions)(in: transaction)
        }
    }
}

/// Runs `body` with subscription on a fresh database.
func withSubscription(connections: Int = 4, _ body: (SubscriptionWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .subscription,
        schema: try SubscriptionSchema.sets(),
        handlers: SubscriptionWorld.handlers,
        connections: connections
    ) { service in
        try await body(SubscriptionWorld(service: service))
    }
}

extension String {
    /// The moment that a text in an event or an answer names.
    var moment: Date {
        get throws {
            guard let moment = Timestamp.parse(self) else { throw TestFailure("no moment: \(self)") }
            return moment
        }
    }
}
