import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import SubscriptionService

@Suite("One's own data in subscription", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withSubscription { world in
            #expect(try await Exports.subscription.gaps(in: world.service) == [])
            let none = try await Exports.subscription.all(
                of: UserID(UUID()),
                in: world.service,
                keys: InMemoryDataKeys()
            )
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets the plan")
    func given() async throws {
        try await withSubscription { world in
            try await world.give(until: world.clock.now.addingTimeInterval(86_400))
            let given = try await Exports.subscription.all(of: world.ada, in: world.service)
            #expect(given["subscriptions"]?.map { $0["plan"]?.text } == ["plus"])
            let none = try await Exports.subscription.all(of: UserID(clerkSubject: "user_eve"), in: world.service)
            #expect(none.isEmpty)
        }
    }
}
