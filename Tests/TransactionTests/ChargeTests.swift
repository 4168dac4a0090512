import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import TransactionService

@Suite("Subscription charges", .serialized)
struct ChargeTests {
    private func reference(_ world: TransactionWorld) -> String { "sub-\(world.ada)-20261121" }

    private func request(_ world: TransactionWorld, attempt: Int = 1) async throws {
        try await world.hear(
            SubscriptionChargeRequested(
                userID: world.ada.uuid,
                reference: self.reference(world),
                attempt: attempt,
                plan: "plus",
                amount: 300
            )
        )
    }

    private func run(_ world: TransactionWorld, attempt: Int = 1) async throws -> JobOutcome {
        let charge = ChargeSubscriptions(database: world.work, store: ChargeStore())
        let order = ChargeOrder(user: world.ada.uuid, reference: self.reference(world), attempt: attempt, amount: 300)
        // The job as it was enqueued.
        let stored = try await world.database.psql(
            "SELECT payload FROM jobs WHERE kind = 'charge_subscription' AND key = '\(order.reference)#\(attempt)'"
        )
        let payload = try #require(stored.first)
        let job = Job(
            id: world.ids.next(),
            key: "\(order.reference)#\(attempt)",
            subject: nil,
            payload: payload,
            attempt: 1,
            cause: Cause(),
            leaseUntil: world.clock.now,
            owner: world.ids.next()
        )
        return try await charge([job])[0]
    }

    private func beat(_ world: TransactionWorld) async throws {
        let at = Timestamp.text(world.clock.now)
        try await world.hear(AuthHeartbeat(at: at))
        try await world.hear(CustomerHeartbeat(at: at))
        try await world.hear(SubscriptionHeartbeat(at: at))
    }

    @Test("a charge that is asked for, however often, is answered once and paid once")
    func paid() async throws {
        try await withTransaction { world in
            try await world.funds("ada-account", 1000, "p-1")
            for _ in 0..<2 { try await self.request(world) }
            #expect(try await self.run(world) == .again(reason: "read_model_stale", after: .seconds(5)))
            try await self.beat(world)
            for _ in 0..<2 { #expect(try await self.run(world) == .done) }
            let answers = try await world.said(SubscriptionChargePaid.self)
            #expect(answers.count == 1 && answers[0].amount == 300 && answers[0].attempt == 1)
            #expect(answers[0].reference == self.reference(world) && answers[0].userID == world.ada.uuid)
            #expect(try await world.history.wallet(of: world.ada)?.posted == 700)
            let row = try #require(try await world.history.transfer(answers[0].transactionID, for: world.ada))
            #expect(row.type == "subscription_charge" && row.state == "completed")
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("one that cannot be paid is answered with the reason, and the next attempt may be")
    func refused() async throws {
        try await withTransaction { world in
            try await self.beat(world)
            try await self.request(world)
            #expect(try await self.run(world) == .done)
            #expect(try await world.said(SubscriptionChargeRefused.self).map(\.reason) == ["insufficient_funds"])
            try await world.funds("ada-account", 300, "p-1")
            try await self.request(world, attempt: 2)
            #expect(try await self.run(world, attempt: 2) == .done)
            #expect(try await world.said(SubscriptionChargePaid.self).map(\.attempt) == [2])
            #expect(try await world.history.wallet(of: world.ada)?.posted == 0)
            #expect(try await world.brokenInvariants() == [])
        }
    }

    @Test("a plan counts until the end of its grace, a cancelled one until the end of what is paid")
    func plan() async throws {
        try await withTransaction { world in
            let until = {
                try await world.database.psql(
                    "SELECT coalesce((active_until AT TIME ZONE 'UTC')::text, 'none') FROM users WHERE username = 'ada'"
                )
            }
            let (end, grace) = ("2027-01-21T00:00:00.000Z", "2027-01-24T00:00:00.000Z")
            let user = world.ada.uuid
            try await world.hear(
                SubscriptionActivated(userID: user, plan: "plus", activeUntil: end, graceUntil: grace)
            )
            #expect(try await until() == ["2027-01-24 00:00:00"])
            try await world.hear(SubscriptionCancelled(userID: user, plan: "plus", activeUntil: end), sequence: 2)
            #expect(try await until() == ["2027-01-21 00:00:00"])
            try await world.hear(SubscriptionRenewed(userID: user, plan: "plus", activeUntil: grace), sequence: 3)
            #expect(try await until() == ["2027-01-24 00:00:00"])
            try await world.hear(SubscriptionCancelled(userID: user, plan: "plus", activeUntil: end), sequence: 2)
            #expect(try await until() == ["2027-01-24 00:00:00"])
            try await world.hear(SubscriptionLapsed(userID: user, plan: "plus"), sequence: 4)
            #expect(try await until() == ["none"])
        }
    }

    @Test("a correction of free transfers counts in its own month only")
    func correction() async throws {
        try await withTransaction { world in
            let month = String(LagosCalendar.monthStart(of: world.clock.now).description.dropLast(3))
            let adjust = { (month: String, delta: Int) in
                try await world.hear(
                    UsageAdjusted(userID: world.ada.uuid, adjustmentID: world.ids.next(), month: month, delta: delta)
                )
            }
            try await adjust(month, 2)
            try await adjust("2020-02", 1)
            try await adjust(month, -1)
            #expect(try await world.said(ExternalSlotTaken.self).map(\.used) == [2])
            #expect(try await world.said(ExternalSlotReleased.self).map(\.used) == [1])
        }
    }
}
