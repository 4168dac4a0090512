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

    /// The month in which the tests run.
    var month: UsageMonth { UsageMonth(at: self.clock.now) }

    var handlers: EventHandlers {
        SubscriptionHandlers.make(subscriptions: self.subscriptions, usage: self.usage)
    }

    /// What Ada sees.
    func status() async throws -> SubscriptionStatus {
        let now = self.clock.now
        let found = try await self.subscriptions.find(self.ada, in: self.month, as: self.ada, on: self.requests)
        return found.status(at: now)
    }

    /// Gives Ada a plan for a time.
    func activate(_ plan: String = "plus", until: Date) async throws {
        let order = try PlanOrder(plan: plan, until: Timestamp.text(until), now: self.clock.now)
        try await self.work.transaction(cause: Cause()) { transaction in
            try await ActivatePlan(subscriptions: self.subscriptions)(order, user: self.ada, in: transaction)
        }
    }

    /// Ends plans whose time is over.
    func lapse() async throws {
        try await self.work.transaction(cause: Cause()) { transaction in
            try await LapseExpired(subscriptions: self.subscriptions)(in: transaction)
        }
    }
}

/// Runs `body` with subscription on a fresh database.
func withSubscription(_ body: (SubscriptionWorld) async throws -> Void) async throws {
    try await withServiceDatabase(
        .subscription,
        migrations: try SubscriptionMigrations.all(),
        handlers: SubscriptionHandlers.make(subscriptions: .init(), usage: .init())
    ) { service in
        try await body(SubscriptionWorld(service: service))
    }
}
