import Contracts
import Foundation
import Primitives
import ServiceTestSupport
import Testing

@testable import AnalyticsService

private func kobo(_ amount: Int64) -> Money { Money(kobo: amount) }

@Suite("Totals", .serialized)
struct TotalsTests {
    @Test("an external payment reaches the recipient's bank and never the wallet")
    func external() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id), about: id)
            #expect(try await world.november(world.ada) == Totals(moneyOut: kobo(500_000), fees: kobo(7_500)))
            #expect(try await world.november(world.bayo) == Totals(inBank: kobo(500_000)))
        }
    }

    @Test("an internal payment and money from outside reach the wallet; what waits in suspense does not")
    func wallet() async throws {
        try await withAnalytics { world in
            let ids = (0..<3).map { _ in world.ids.next() }
            try await world.hear(world.completed(ids[0], amount: 300, route: .internal), about: ids[0])
            try await world.hear(world.inbound(ids[1], amount: 1_000), about: ids[1])
            try await world.hear(world.inbound(ids[2], amount: 50_000, reason: "suspense"), about: ids[2])
            #expect(try await world.november(world.bayo) == Totals(inWallet: kobo(1_300)))
        }
    }

    @Test("a payment that waits in suspense is spent by who sent it and not received by anybody")
    func suspendedPayment() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            var event = world.completed(id, amount: 300, route: .internal)
            event.routeReason = "suspense"
            try await world.hear(event, about: id)
            #expect(try await world.november(world.ada).moneyOut == kobo(300))
            #expect(try await world.november(world.bayo) == Totals())
        }
    }

    @Test(
        "between a user's own places only fees are spent, and a claim is told with its drop",
        arguments: [
            TransactionType.selfTransfer, .moneyDrop, .dropClaim, .dropRefund,
        ]
    )
    func ownPlaces(type: TransactionType) async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id, type: type), about: id)
            #expect(try await world.november(world.ada) == Totals(fees: kobo(7_500)))
            #expect(try await world.november(world.bayo) == Totals())
        }
    }

    @Test("the creator of a drop spends when somebody claims, and a plan's price is spent")
    func claimsAndPlans() async throws {
        try await withAnalytics { world in
            let (claim, charge) = (world.ids.next(), world.ids.next())
            try await world.hear(world.claimed(claim), about: claim)
            #expect(try await world.november(world.ada) == Totals(moneyOut: kobo(20_000)))
            #expect(try await world.november(world.bayo) == Totals(inWallet: kobo(20_000)))
            try await world.hear(world.reversed(claim), about: claim)
            var price = world.completed(charge, amount: 1_000, type: .subscriptionCharge)
            price.recipientID = nil
            try await world.hear(price, about: charge)
            #expect(try await world.november(world.ada) == Totals(moneyOut: kobo(1_000), fees: kobo(7_500)))
            #expect(try await world.november(world.bayo) == Totals())
        }
    }

    @Test("an effect told again under another event id counts once, also when told at the same moment")
    func once() async throws {
        try await withAnalytics { world in
            let (id, payment) = (world.ids.next(), world.ids.next())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await world.hear(world.completed(id), about: id) }
                    group.addTask { try await world.hear(world.inbound(payment, amount: 9), about: payment) }
                }
                try await group.waitForAll()
            }
            #expect(try await world.november(world.bayo) == Totals(inWallet: kobo(9), inBank: kobo(500_000)))
            #expect(try await world.november(world.ada) == Totals(moneyOut: kobo(500_000), fees: kobo(7_500)))
        }
    }

    @Test("a return takes back what was counted, on the day it was counted, once")
    func reversed() async throws {
        try await withAnalytics { world in
            let (id, other) = (world.ids.next(), world.ids.next())
            try await world.hear(world.completed(id), about: id)
            try await world.hear(world.completed(other, amount: 100), about: other)
            for _ in 0..<2 { try await world.hear(world.reversed(id), about: id) }
            try await world.hear(world.completed(id), about: id)
            for day in ["2026-11-21", "2026-11-23"] {
                let rest = day == "2026-11-21" ? kobo(100) : .zero
                #expect(try await world.totals(world.bayo, from: day, to: day) == Totals(inBank: rest))
            }
            #expect(try await world.november(world.ada) == Totals(moneyOut: kobo(100), fees: kobo(7_500)))
        }
    }

    @Test("a return that is heard before the completion ends at nothing too")
    func reversedFirst() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.reversed(id), about: id)
            try await world.hear(world.completed(id), about: id)
            #expect(try await world.november(world.ada) == Totals())
            #expect(try await world.november(world.bayo) == Totals())
        }
    }

    @Test("a return that is heard at the moment of the completion ends at nothing")
    func reversedMeanwhile() async throws {
        try await withAnalytics { world in
            for _ in 0..<20 {
                let id = world.ids.next()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await world.hear(world.completed(id), about: id) }
                    group.addTask { try await world.hear(world.reversed(id), about: id) }
                    try await group.waitForAll()
                }
            }
            #expect(try await world.november(world.ada) == Totals())
            #expect(try await world.november(world.bayo) == Totals())
        }
    }

    @Test("any order of many events with repetitions gives the same totals")
    func shuffled() async throws {
        try await withAnalytics { world in
            let ids = (0..<24).map { _ in world.ids.next() }
            let events = (ids + ids).flatMap { [($0, true), ($0, false)] }
            let returned = Set(ids.prefix(8))
            for (id, isCompletion) in events.shuffled() {
                if isCompletion {
                    try await world.hear(world.completed(id), about: id)
                } else if returned.contains(id) {
                    try await world.hear(world.reversed(id), about: id)
                }
            }
            #expect(try await world.november(world.bayo) == Totals(inBank: kobo(16 * 500_000)))
            #expect(
                try await world.november(world.ada) == Totals(moneyOut: kobo(16 * 500_000), fees: kobo(16 * 7_500))
            )
        }
    }

    @Test("half past eleven at night in UTC is the next day in Lagos")
    func lagos() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id, at: "2026-11-30T23:30:00.000Z"), about: id)
            #expect(try await world.november(world.bayo) == Totals())
            let december = try await world.totals(world.bayo, from: "2026-12-01", to: "2026-12-01")
            #expect(december == Totals(inBank: kobo(500_000)))
        }
    }

    @Test("the role of requests sees no rows of anybody but the user who asks")
    func apart() async throws {
        try await withAnalytics { world in
            let id = world.ids.next()
            try await world.hear(world.completed(id), about: id)
            #expect(try await world.rows(visibleTo: world.ada) == 1)
            #expect(try await world.rows(visibleTo: UserID(clerkSubject: "user_eve")) == 0)
            #expect(try await world.rows(visibleTo: nil) == 0)
        }
    }
}
