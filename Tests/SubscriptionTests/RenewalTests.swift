import Contracts
import Foundation
import Messaging
import Primitives
import ServiceTestSupport
import TestSupport
import Testing

@testable import SubscriptionService

@Suite("Renewals", .serialized)
struct RenewalTests {
    /// Ada has bought a plan; gives the end of what is paid.
    private func bought(_ world: SubscriptionWorld) async throws -> Date {
        try await world.joins()
        try await world.subscribe()
        try await world.pay()
        return try #require(try await world.status().activeUntil).moment
    }

    @Test("a renewal is asked for at the end of the period and follows it without gap, however late it is paid")
    func renewed() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            let anchor = try #require(try await world.status().lastCharge?.decidedAt).moment
            try await world.goes(to: end.addingTimeInterval(-1))
            #expect(try await world.asked().count == 1)
            try await world.goes(to: end)
            let asked = try await world.asked()
            #expect(asked.count == 2 && asked[1].reference == Charge.reference(of: world.ada, end))
            #expect(asked[1].attempt == 1 && asked[1].amount == 150_000)
            // Until the answer the plan counts.
            #expect(try await world.status().status == "grace")
            world.clock.advance(by: .seconds(7200))
            try await world.pay()
            let status = try await world.status()
            #expect(status.status == "active")
            #expect(status.activeUntil == Timestamp.text(Anniversary.of(anchor, after: end)))
            let event = try #require(try await world.last(SubscriptionRenewed.self))
            #expect(event.activeUntil == status.activeUntil)
            #expect(try await world.told() == ["charge_requested", "activated", "charge_requested", "renewed"])
        }
    }

    @Test("what cannot be paid is tried again while the grace lasts, then the plan lapses")
    func grace() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            try await world.goes(to: end)
            try await world.refuse()
            let failed = try #require(try await world.last(SubscriptionPaymentFailed.self))
            #expect(failed.graceUntil == Timestamp.text(end.addingTimeInterval(3 * 86_400)))
            var retry = try #require(failed.retryAt).moment
            var tries = 1
            while true {
                try await world.goes(to: retry)
                tries += 1
                let asked = try await world.asked()
                #expect(asked.count == tries + 1 && asked.last?.attempt == tries)
                #expect(asked.last?.reference == Charge.reference(of: world.ada, end))
                #expect(try await world.status().status == "grace")
                try await world.refuse()
                guard let next = try await world.last(SubscriptionPaymentFailed.self)?.retryAt else { break }
                retry = try next.moment
            }
            // Every twelve hours within three days; the sixth pause would reach the end.
            #expect(tries == 6)
            try await world.goes(to: end.addingTimeInterval(3 * 86_400 - 1))
            #expect(try await world.status().status == "grace")
            try await world.goes(to: end.addingTimeInterval(3 * 86_400))
            #expect(try await world.status().status == "free")
            #expect(try await world.told().last == "lapsed")
            #expect(try await world.asked().count == tries + 1)
        }
    }

    @Test("a plan in its grace can be paid at once by ordering it, for the same period")
    func payNow() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            try await world.goes(to: end)
            try await world.refuse()
            world.clock.advance(by: .seconds(60))
            #expect(try await world.subscribe())
            #expect(try await world.asked().last?.reference == Charge.reference(of: world.ada, end))
            try await world.pay()
            #expect(try await world.last(SubscriptionRenewed.self) != nil)
            #expect(try #require(try await world.status().activeUntil).moment > world.clock.now)
        }
    }

    @Test("who cancels keeps what is paid, pays nothing more, and may change their mind")
    func cancelled() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            for _ in 0..<2 { try await world.unsubscribe() }
            let status = try await world.status()
            #expect(status.status == "active" && status.renewsAs == nil && status.graceUntil == nil)
            #expect(try await world.last(SubscriptionCancelled.self)?.activeUntil == status.activeUntil)
            // The plan is ordered again: nothing is due before its end.
            #expect(try await !world.subscribe())
            #expect(try await world.last(SubscriptionActivated.self)?.graceUntil != nil)
            try await world.unsubscribe()
            #expect(
                try await world.told()
                    == ["charge_requested", "activated", "cancelled", "activated", "cancelled"]
            )
            try await world.goes(to: end.addingTimeInterval(-1))
            #expect(try await world.status().status == "active")
            try await world.goes(to: end)
            #expect(try await world.status().status == "free")
            #expect(try await world.asked().count == 1)
            #expect(try await world.told().last == "lapsed")
        }
    }

    @Test("who cancels while a renewal is unpaid is charged no more; one under way decides")
    func cancelledInGrace() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            try await world.goes(to: end)
            try await world.unsubscribe()
            // Asked for already: the plan counts until it is known.
            #expect(try await world.status().status == "grace")
            try await world.refuse()
            try await world.goes(to: world.clock.now.addingTimeInterval(13 * 3600))
            #expect(try await world.asked().count == 2)
            #expect(try await world.status().status == "free")
            #expect(try await world.told().last == "lapsed")
        }
    }

    @Test("another plan begins with the next period, at its price then")
    func change() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            #expect(try await !world.subscribe("gold"))
            #expect(try await world.status().plan == "plus")
            #expect(try await world.status().renewsAs == "gold")
            try await world.goes(to: end)
            #expect(try await world.asked().last?.amount == 500_000)
            try await world.pay()
            #expect(try await world.status().plan == "gold")
        }
    }

    @Test("a renewal that is paid after the grace begins when it was paid: nobody pays for days they did not have")
    func late() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            try await world.goes(to: end)
            try await world.goes(to: end.addingTimeInterval(10 * 86_400))
            // Nothing lapses while nobody knows whether it was paid.
            #expect(try await world.told().last == "charge_requested")
            #expect(try await world.status().status == "pending")
            let paid = Date(millisecondsSince1970: world.clock.now.millisecondsSince1970)
            try await world.pay()
            let until = try #require(try await world.status().activeUntil).moment
            #expect(until > Anniversary.of(paid, after: paid).addingTimeInterval(-5))
            #expect(try await world.told().last == "activated")
        }
    }

    @Test("a plan that an operator gave ends unless it is ordered; then it is charged when it ends")
    func given() async throws {
        try await withSubscription { world in
            try await world.joins()
            let end = Date(millisecondsSince1970: world.clock.now.millisecondsSince1970).addingTimeInterval(86_400)
            try await world.give(until: end)
            #expect(try await !world.subscribe())
            try await world.goes(to: end)
            #expect(try await world.asked().map(\.reference) == [Charge.reference(of: world.ada, end)])
            try await world.pay()
            #expect(try await world.status().activeUntil == Timestamp.text(Anniversary.of(end, after: end)))
        }
    }

    @Test("what an operator gives while a charge is open is not cut short by it", arguments: [true, false])
    func givenMeanwhile(isFirst: Bool) async throws {
        try await withSubscription { world in
            if isFirst {
                try await world.joins()
                #expect(try await world.subscribe())
            } else {
                try await world.goes(to: try await self.bought(world))
            }
            let now = Date(millisecondsSince1970: world.clock.now.millisecondsSince1970)
            let end = now.addingTimeInterval(100 * 86_400)
            try await world.give(until: end)
            try await world.pay()
            #expect(try await world.status().activeUntil == Timestamp.text(Anniversary.of(end, after: end)))
        }
    }

    @Test("of a person who is erased nothing is charged any more")
    func erased() async throws {
        try await withSubscription { world in
            let end = try await self.bought(world)
            try await world.hear(UserErased(userID: world.ada.uuid), sequence: 2)
            try await world.goes(to: end)
            #expect(try await world.asked().count == 1)
            #expect(try await world.told().last == "lapsed")
        }
    }

    @Test("three services that renew at once ask for each charge once, round after round", .timeLimit(.minutes(5)))
    func race() async throws {
        try await withSubscription(connections: 8) { world in
            let people = 40
            for number in 0..<people {
                let sql = """
                    INSERT INTO subscriptions (user_id, plan, active_until, grace_until, anchored_at, renews_as,
                        next_charge_at, created_at, updated_at)
                    SELECT ('00000000-0000-7000-8000-' || lpad('\(number)', 12, '0'))::uuid, 'plus', now(),
                        now() + interval '3 days', now() - interval '1 month', 'plus', now(), now(), now()
                    """
                try await world.database.psql(sql)
            }
            world.clock.advance(by: .seconds(1))
            for round in 1...3 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 { group.addTask { for _ in 0..<3 { try await world.renew() } } }
                    try await group.waitForAll()
                }
                let asked = try await world.asked()
                #expect(asked.count == people * round)
                #expect(Set(asked.map { "\($0.reference)#\($0.attempt)" }).count == people * round)
                for charge in asked.suffix(people) {
                    try await world.hear(
                        SubscriptionChargeRefused(
                            userID: charge.userID,
                            reference: charge.reference,
                            attempt: charge.attempt,
                            amount: charge.amount,
                            reason: "insufficient_funds",
                            timestamp: Timestamp.text(world.clock.now)
                        ),
                        about: charge.userID
                    )
                }
                world.clock.advance(by: .seconds(12 * 3600 + 1))
            }
            #expect(try await world.database.psql("SELECT count(*) FROM charges") == ["\(people)"])
        }
    }

    @Test("one person who orders ten times at once is charged once")
    func orderedAtOnce() async throws {
        try await withSubscription(connections: 8) { world in
            try await world.joins()
            let charged = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        do { return try await world.subscribe() } catch SubscriptionError.chargePending { return false }
                    }
                }
                return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
            }
            #expect(charged == 1)
            #expect(try await world.asked().count == 1)
        }
    }
}
