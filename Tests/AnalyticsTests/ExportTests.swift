import Contracts
import Foundation
import Messaging
import Primitives
import ServiceKit
import ServiceTestSupport
import TestSupport
import Testing

@testable import AnalyticsService

@Suite("One's own data in analytics", .serialized)
struct ExportTests {
    @Test("every table and column about people is given, or left out with a reason, and can be read")
    func declared() async throws {
        try await withAnalytics { world in
            #expect(try await Exports.analytics.gaps(in: world.service) == [])
            let none = try await Exports.analytics.all(of: UserID(UUID()), in: world.service, keys: InMemoryDataKeys())
            #expect(none.isEmpty)
        }
    }

    @Test("the person gets each movement once, with the other by name and without an id of theirs")
    func given() async throws {
        try await withAnalytics { world in
            let created = UserCreated(userID: world.bayo.uuid, username: "bayo", accountType: Open(.personal))
            try await world.hear(created, about: world.bayo.uuid)
            for _ in 0..<3 {
                let id = world.ids.next()
                try await world.hear(world.completed(id), about: id)
            }
            let given = try await Exports.analytics.all(of: world.ada, in: world.service)
            let out = given["movements"]?.filter { $0["direction"]?.text == "money_out" } ?? []
            #expect(out.count == 3 && out.allSatisfy { $0["username"]?.text == "bayo" })
            #expect(out.allSatisfy { $0["counterparty_id"] == nil && $0["user_id"] == nil })
        }
    }
}
