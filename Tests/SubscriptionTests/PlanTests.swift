import Contracts
import Foundation
import Messaging
import Postgres
import Primitives
import ServiceKit
import ServiceTestSupport
import Testing

@testable import SubscriptionService

@Suite("Plans", .serialized)
struct PlanTests {
    @Test("before and after sign-up is heard of, the plan is the free one with five transfers")
    func free() async throws {
        try await withSubscription { world in
            let before = try await world.status()
            try await world.hear(
                UserCreated(userID: world.ada.uuid, username: "ada", accountType: Open(AccountType.personal))
            )
            #expect(try await world.status() == before)
            #expect(before.status == "free" && before.plan == "free" && before.activeUntil == nil)
            #expect(before.externalTransfersUsed == 0 && before.externalTransfersLimit == 5)
        }
    }

    @Test("an activated plan is announced once, with the moment it was given, and has no limit")
    func activated() async throws {
        try await withSubscription { world in
            let until = world.clock.now.addingTimeInterval(86_400)
            for _ in 0..<2 { try await world.give(until: until) }
            // Sign-up that is heard of late takes nothing away.
            try await world.hear(
                UserCreated(userID: world.ada.uuid, username: "ada", accountType: Open(AccountType.personal))
            )
            #expect(try await world.said() == ["subscription.activated"])
            let event = try await world.last(SubscriptionActivated.self)
            #expect(event?.plan == "plus" && event?.activeUntil == Timestamp.text(until))
            let status = try await world.status()
            #expect(status.status == "active" && status.plan == "plus" && status.externalTransfersLimit == nil)
            #expect(status.activeUntil == Timestamp.text(until))
        }
    }

    @Test("a plan whose time is over is free at once and lapses once")
    func lapsed() async throws {
        try await withSubscription { world in
            try await world.give(until: world.clock.now.addingTimeInterval(60))
            try await world.lapse()
            #expect(try await world.said() == ["subscription.activated"])
            world.clock.advance(by: .seconds(61))
            #expect(try await world.status().status == "free")
            for _ in 0..<2 { try await world.lapse() }
            #expect(try await world.said() == ["subscription.activated", "subscription.lapsed"])
            #expect(try await world.last(SubscriptionLapsed.self)?.plan == "plus")
            // And can be bought again.
            try await world.give(until: world.clock.now.addingTimeInterval(60))
            #expect(try await world.status().status == "active")
        }
    }

    @Test(
        "an order with a plan or a moment that is none is refused",
        arguments: [
            ("free", "2099-01-01T00:00:00Z", "/plan"), ("Plus!", "2099-01-01T00:00:00Z", "/plan"),
            ("", "2099-01-01", "/plan"),
            ("plus", "tomorrow", "/until"), ("plus", "2020-01-01T00:00:00Z", "/until"),
        ]
    )
    func refused(plan: String, until: String, pointer: String) throws {
        let problem = #expect(throws: FieldProblem.self) { try PlanGift(plan: plan, until: until, now: Date()) }
        #expect(problem?.pointer == pointer)
    }

    @Test("the role of requests sees no rows of anybody but the user who asks")
    func apart() async throws {
        try await withSubscription { world in
            try await world.give(until: world.clock.now.addingTimeInterval(60))
            let eve = UserID(clerkSubject: "user_eve")
            let found = try await world.subscriptions.view(world.ada, in: world.month, as: eve, on: world.requests)
            #expect(found == SubscriptionView(month: world.month))
        }
    }

    @Test("the role of requests can neither give a plan nor lengthen one")
    func rights() async throws {
        try await withSubscription { world in
            try await world.joins()
            let statements = [
                "UPDATE subscriptions SET plan = 'plus', active_until = now()",
                "UPDATE subscriptions SET active_until = now()", "UPDATE subscriptions SET anchored_at = now()",
                "DELETE FROM approval_nonces",
            ]
            for statement in statements {
                let refusal = await #expect(throws: (any Error).self) {
                    try await world.asUser(world.ada) { try await $0.query(SQL(unsafe: statement)) }
                }
                // Insufficient privilege.
                #expect(refusal.map { "\($0)" }?.contains("42501") == true, "\(statement)")
            }
            #expect(try await world.status().status == "free")
        }
    }

    @Test("who closed a profile is known, also before the sign-up is heard of, and nothing opens it again")
    func closedProfiles() async throws {
        try await withSubscription { world in
            let profiles = ProfileStore()
            #expect(try await profiles.state(of: world.ada, on: world.requests) == .open)
            for (sequence, word) in [(1, Restriction.frozen), (2, .closed), (3, .none)] {
                let event = UserRestricted(userID: world.ada.uuid, restriction: Open(word), reason: "a_test")
                try await world.hear(event, sequence: Int64(sequence))
                let isClosed = try await profiles.state(of: world.ada, on: world.requests) == .closed
                #expect(isClosed == (sequence > 1))
            }
            let bola = UserID(clerkSubject: "user_bola")
            #expect(try await profiles.state(of: bola, on: world.requests) == .open)
            try await world.hear(UserErased(userID: bola.uuid), about: bola.uuid, sequence: 1)
            #expect(try await profiles.state(of: bola, on: world.requests) == .closed)
        }
    }
}
